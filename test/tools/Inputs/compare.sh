# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compare.sh COSY: the part of compare.test that runs in the VM, in a directory with the programs.

compare="$1 compare -n 3"
# Other tests may change /tmp meanwhile, which ls would show.
dir=$(mktemp -d) && cp program static plain "$dir" && cd "$dir" || exit 1

# ways FILE - print the ways of a comparison, and whether their runs did the same.
ways() {
	python3 -c '
import json, sys
result = json.load(open(sys.argv[1]))
assert all(len(way[metric]["runs"]) == 3 for way in result["ways"] for metric in ("cpu", "wall"))
print("same:" if result["same"] else "different:", *(way["name"] for way in result["ways"]))' "$1"
}

for program in ./program ./static ls; do
	$compare --json result.json $program >report.txt || exit 1
	ways result.json
done
$compare ./plain
echo "plain: $?"

$compare --json - -f left ./static differ >result.json
echo "status of the different one: $?"
python3 -c 'import json; print(*json.load(open("result.json"))["differences"], sep="\n")'

$compare --json - ./static time >result.json
echo "unstable: $?"
python3 -c 'import json; print(*json.load(open("result.json"))["warnings"], sep="\n")' | grep native

# side_effects ARGUMENT... - print whether there is a warning about changed files, and which they are.
side_effects() {
	$compare --json - "$@" >result.json || exit 1
	python3 -c '
import json
warnings = json.load(open("result.json"))["warnings"]
print(*[text for text in warnings if "changes files" in text] or ["no side effects"], sep="\n")'
}

mkdir folder
side_effects sh -c 'echo line >>grown; test -s grown'
side_effects -p 'rm -f grown' sh -c 'echo line >>grown; test -s grown'
side_effects sh -c 'echo line >"$1/new"' - folder
side_effects ls -l .

printf '\177ELF' >denied && chmod +x denied
$compare ./denied 2>/dev/null
echo "denied: $?"

echo report
grep -v -e ^instr report.txt
