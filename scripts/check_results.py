# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads lit's results for scripts/check.

usage: check_results.py failed RESULTS MAX
           print a filter for the tests that failed; nothing if none did, or more than MAX, which
           may be "all"
       check_results.py report RESULTS RESULTS-AGAIN PASSED FAILED WITHOUT-VM
           print what failed or hung, what passed only when it was repeated, the tests that only
           --long runs, the slowest tests, what was skipped and why, and the counts. RESULTS-AGAIN
           has tests that were repeated, if it exists; PASSED and FAILED are numbers of results that
           are not of lit; WITHOUT-VM is why there is no VM, or empty.
           Exit status 1 if a test failed.
"""

import json
import os
import re
import sys

PASSED = ("PASS", "XFAIL", "FLAKYPASS")
NOT_RUN = ("UNSUPPORTED", "SKIPPED", "EXCLUDED")


def read(path):
    with open(path, encoding="utf-8") as results:
        return json.load(results)["tests"]


def has_failed(test):
    return test["code"] not in PASSED + NOT_RUN


def how(test):
    """Return how a test has failed. scripts/bounded, vm-exec and lit each end what hangs."""
    ended = re.search(r"has not ended after|: killed after \d+ seconds", test["output"])
    return f"{test['code']}, it hung" if ended or test["code"] == "TIMEOUT" else test["code"]


def failed_filter(path, most):
    failed = [re.escape(test["name"]) for test in read(path) if has_failed(test)]
    if not failed or most != "all" and len(failed) > int(most):
        return ""
    return "^(" + "|".join(failed) + ")$"


def is_long(name):
    """Return True for a test that only ./cosy check --long runs."""
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "test",
                        name.split(" :: ", 1)[-1])
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as text:
        return re.search(r"REQUIRES:.*\blong\b", text.read()) is not None


def report(path, path_again, passed, failed, without_vm):
    tests = {test["name"]: test for test in read(path)}
    first = dict(tests)
    if os.path.exists(path_again):
        for test in read(path_again):
            if test["code"] in PASSED:
                name = test["name"]
                print(f"passed only when it was repeated: {name} ({how(first[name])})")
            if test["code"] not in ("EXCLUDED", "SKIPPED"):
                tests[test["name"]] = test
    ran, skipped = [], {}
    for _, test in sorted(tests.items()):
        if test["code"] in PASSED:
            ran.append(test)
            passed += 1
            if is_long(test["name"]):
                print(f"PASS: {test['name']} ({test['elapsed']:.0f} s, only with --long)")
        elif test["code"] in ("UNSUPPORTED", "SKIPPED"):
            reason = test["output"].strip() or test["code"]
            skipped.setdefault(reason.splitlines()[-1], []).append(test["name"])
        elif test["code"] != "EXCLUDED":
            print(f"failed: {test['name']} ({how(test)})")
            ran.append(test)
            failed += 1
    if len(ran) > 10:
        print("slowest:")
        for test in sorted(ran, key=lambda t: -t["elapsed"])[:10]:
            cpu = test.get("metrics", {}).get("cpu", 0)
            print(f"  {test['elapsed']:7.1f} s, {cpu:6.1f} s of the CPU  {test['name']}")
    why_skipped = {
        "needs a VM": f"no VM: {without_vm}",
        "long": "run by ./cosy check --long",
        "kernel-debug": "run by ./cosy check --debug",
    }
    for reason, names in skipped.items():
        why = next((why_skipped[key] for key in why_skipped if key in reason), reason)
        print(f"skipped: {', '.join(names) if len(names) <= 20 else f'{len(names)} tests'} ({why})")
    if not ran:
        print("failed: no test was run")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed == 0


def main():
    command, *arguments = sys.argv[1:]
    if command == "failed":
        print(failed_filter(*arguments))
        return 0
    path, path_again, passed, failed, without_vm = arguments
    return 0 if report(path, path_again, int(passed), int(failed), without_vm) else 1


sys.exit(main())
