// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// files.js DIRECTORY - print the sum of the sizes of the files in all folders of DIRECTORY.
const fs = require('fs');
const path = require('path');

let sum = 0;
for (const folder of fs.readdirSync(process.argv[2])) {
	const directory = path.join(process.argv[2], folder);

	for (const file of fs.readdirSync(directory))
		sum += fs.statSync(path.join(directory, file)).size;
}
console.log(sum);
