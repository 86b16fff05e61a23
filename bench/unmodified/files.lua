-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
-- Print the sum of the sizes of the files below a directory.
local lfs = require("lfs")

local function size(dir)
	local sum = 0
	for name in lfs.dir(dir) do
		if name ~= "." and name ~= ".." then
			local path = dir .. "/" .. name
			local attributes = lfs.attributes(path)
			sum = sum + (attributes.mode == "directory" and size(path) or attributes.size)
		end
	end
	return sum
end

print(size(arg[1]))
