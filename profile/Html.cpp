//===- Html.cpp - the report as a page with a flame graph -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Html.h"
#include "Report.h"
#include "Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <map>

using namespace llvm;
using namespace cosy;

namespace {

/// A function and its callees, or a system call.
struct Node {
  double Ns = 0;
  uint64_t Calls = 0;
  /// The part of Ns in calls that the module makes with cosy run.
  double GainingNs = 0;
  std::map<std::string, Node> Children;
};

constexpr unsigned RowHeight = 18;
/// In units of the graph, which is scaled to the width of the window.
constexpr double Width = 1200, MinShownWidth = 0.4, MinLabelledWidth = 40;

constexpr char Head[] = R"html(<!DOCTYPE html>
<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>cosy profile</title>
<style>
:root {
  color-scheme: light dark;
  --back: #fdfdfc; --text: #1d1f21; --faint: #5f666d; --line: #d9dcdf;
  --plain: #c9d1d9; --gain: #7cc7ae; --call: #e9c46a; --found: #d07be0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #16181b; --text: #e6e8ea; --faint: #a0a8b0; --line: #363b41;
    --plain: #46505a; --gain: #1f7a5f; --call: #8a6d1f; --found: #8b3f9b;
  }
}
body { margin: 2rem auto; padding: 0 1rem; max-width: 76rem; background: var(--back);
  color: var(--text); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; margin-bottom: 0; }
h2 { font-size: 1.1rem; margin-top: 2.5rem; }
.faint { color: var(--faint); }
.wide { overflow-x: auto; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
svg { width: 100%; height: auto; display: block; }
svg g { cursor: pointer; }
svg text { fill: var(--text); font: 12px system-ui, "DejaVu Sans", sans-serif;
  pointer-events: none; }
rect { stroke: var(--back); stroke-width: .5; }
.plain { fill: var(--plain); }
.gain { fill: var(--gain); }
.call { fill: var(--call); }
.found rect { fill: var(--found); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; }
button, input { font: inherit; }
.key { display: inline-block; width: .9em; height: .9em; margin: 0 .3em 0 1em; }
</style>
</head>
<body>
)html";

constexpr char Script[] = R"html(<script>
"use strict";
const svg = document.getElementById("graph"), all = [...svg.querySelectorAll("g")];
const width = svg.viewBox.baseVal.width;
function place(from, size) {
  for (const group of all) {
    const left = (group.dataset.x - from) / size * width;
    const wide = group.dataset.w / size * width;
    const shown = left < width && left + wide > 0 && wide > 0.4;
    group.style.display = shown ? "" : "none";
    if (!shown) continue;
    const begin = Math.max(left, 0), end = Math.min(left + wide, width);
    const [, box, text] = group.children;
    box.setAttribute("x", begin);
    box.setAttribute("width", end - begin);
    text.setAttribute("x", begin + 3);
    const fits = Math.floor((end - begin - 6) / 7), name = group.dataset.n;
    text.textContent = fits < 3 ? "" : name.length > fits ? name.slice(0, fits - 1) + "…" : name;
  }
}
for (const group of all) {
  group.addEventListener("click", () => place(+group.dataset.x, +group.dataset.w));
  group.addEventListener("keydown", event => {
    if (event.key === "Enter") place(+group.dataset.x, +group.dataset.w);
  });
}
document.getElementById("reset").addEventListener("click", () => place(0, width));
document.getElementById("search").addEventListener("input", event => {
  const word = event.target.value.toLowerCase();
  for (const group of all)
    group.classList.toggle("found", word !== "" && group.dataset.n.toLowerCase().includes(word));
});
place(0, width);
</script>
)html";

/// Return text as HTML. Names of functions and files may contain any bytes.
std::string escaped(StringRef Bytes) {
  std::string Text;
  raw_string_ostream Stream(Text);
  printHTMLEscaped(json::fixUTF8(Bytes), Stream);
  return Text;
}

void addSite(Node &Root, const Profile &Profile, const Executable &Executable,
             const Site &Site, bool Gains) {
  std::vector<std::string> Names = {Executable.name().str()};
  for (unsigned Index : llvm::reverse(Site.Stack)) {
    const CodeAddress &Address = Profile.Stacks.address(Index);
    for (const Frame &Frame : llvm::reverse(Address.Frames))
      Names.push_back(
          !Frame.Function.empty()
              ? Frame.Function
              : (StringRef("/" + Address.Module).rsplit('/').second + "+0x" +
                 utohexstr(Address.Function ? Address.Function
                                            : Address.Address,
                           true))
                    .str());
  }
  Names.push_back("[" + Site.Syscall + "]");
  Node *Current = &Root;
  auto Add = [&] {
    Current->Ns += Site.Sum.kernel_ns;
    Current->Calls += Site.Sum.count;
    if (Gains)
      Current->GainingNs += Site.Sum.kernel_ns;
  };
  Add();
  for (const std::string &Name : Names) {
    Current = &Current->Children[Name];
    Add();
  }
}

class Graph {
public:
  Graph(raw_ostream &Stream, const Node &Root) : Stream(Stream), Root(Root) {}

  void write() {
    unsigned Depth = depth(Root);
    Height = Depth * RowHeight;
    Stream << "<svg id=\"graph\" viewBox=\"0 0 " << format("%.0f", Width) << ' '
           << Height
           << "\" role=\"img\" aria-label=\"Flame graph of the time in "
           << "system calls\">\n";
    writeNode("all", Root, 0, 0);
    Stream << "</svg>\n";
  }

private:
  double widthOf(const Node &Node) const {
    return Root.Ns ? Node.Ns / Root.Ns * Width : 0;
  }

  unsigned depth(const Node &Node) const {
    unsigned Deepest = 0;
    for (const auto &[Name, Child] : Node.Children)
      if (widthOf(Child) >= MinShownWidth)
        Deepest = std::max(Deepest, depth(Child));
    return Deepest + 1;
  }

  void writeNode(const std::string &Name, const Node &Node, double Left,
                 unsigned Row) {
    double Wide = widthOf(Node);
    unsigned Top = Height - (Row + 1) * RowHeight;
    const char *Class = Node.GainingNs * 2 > Node.Ns       ? "gain"
                        : StringRef(Name).starts_with("[") ? "call"
                                                           : "plain";
    std::string Shown = escaped(Name);
    Stream << "<g tabindex=\"0\" data-n=\"" << Shown
           << format("\" data-x=\"%.3f\" data-w=\"%.3f\">", Left, Wide)
           << "<title>" << Shown << ": " << timeText(Node.Ns) << ", "
           << countText(Node.Calls) << " calls</title><rect class=\"" << Class
           << format("\" x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%u\"/>",
                     Left, Top, Wide, RowHeight)
           << format("<text x=\"%.3f\" y=\"%u\">", Left + 3,
                     Top + RowHeight - 5)
           << (Wide >= MinLabelledWidth ? Shown : "") << "</text></g>\n";
    for (const auto &[ChildName, Child] : Node.Children) {
      if (widthOf(Child) >= MinShownWidth)
        writeNode(ChildName, Child, Left, Row + 1);
      Left += widthOf(Child);
    }
  }

  raw_ostream &Stream;
  const Node &Root;
  unsigned Height = 0;
};

} // namespace

void cosy::writeHtml(raw_ostream &Stream, const Profile &Profile,
                     const Adviser &Adviser, const Recording &Recording,
                     ArrayRef<std::string> Command) {
  Node Root;
  for (const Executable &Executable : Profile.Executables)
    for (const Site &Site : Executable.Sites)
      if (Site.Sum.kernel_ns)
        addSite(Root, Profile, Executable, Site,
                Adviser.savedByRun(Executable, Site) > 0);

  Stream << Head << "<h1>cosy profile: <code>"
         << escaped(llvm::join(Command, " ")) << "</code></h1>\n"
         << "<p class=\"faint\">" << countText(Profile.Calls)
         << " system calls, processes: " << countText(Profile.Processes) << "; "
         << timeText(Profile.CpuNs) << " of CPU time, " << timeText(Root.Ns)
         << " of it in the calls.</p>\n";
  for (const std::string &Warning : warnings(Recording))
    Stream << "<p>Warning: " << escaped(Warning) << "</p>\n";

  Stream
      << "<h2>Predicted gains, largest first</h2>\n<div class=\"wide\">\n"
      << "<table>\n<tr><th class=\"number\">change</th><th>change to make</th>"
      << "<th>place and reason</th></tr>\n";
  for (const Advice &Advice : Adviser.All) {
    if (Adviser.isSmall(Advice))
      continue;
    Stream << "<tr><td class=\"number\">"
           << changeText(Advice.SavedNs, Profile.CpuNs) << "</td><td>"
           << (Advice.AlternativeTo ? "or: " : "") << escaped(Advice.Title)
           << "</td><td>";
    ListSeparator Break("<br>");
    for (const std::string &Line : Advice.Details)
      Stream << Break << escaped(Line);
    Stream << "</td></tr>\n";
  }
  Stream
      << "</table>\n</div>\n"
      << "<h2>Time of the calls by function</h2>\n"
      << "<p>The width of a function is the time in the system calls that it "
         "and its callees make. "
      << "Click a function to enlarge it. "
      << "<button id=\"reset\">Show all</button> "
      << "<input id=\"search\" placeholder=\"find a function\" "
      << "aria-label=\"find a function\">"
      << "<span class=\"key gain\" style=\"background: var(--gain)\"></span>"
      << "with cosy run, the module makes most of these calls"
      << "<span class=\"key\" style=\"background: var(--call)\"></span>"
      << "other system calls</p>\n";
  Graph(Stream, Root).write();
  Stream << Script << "</body>\n</html>\n";
}
