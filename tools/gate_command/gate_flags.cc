#include "tools/gate_command/gate_flags.h"

namespace kymo::tools {
namespace {

constexpr char kEnd[] =
    "\nEXIT STATUS\n"
    "    0    within the budget\n"
    "    1    the program failed, or could not be measured\n"
    "    2    the command line or the budget is wrong\n"
    "    4    over the budget\n";

}  // namespace

const SettingTable<GateFlags>& GateFlagTable() {
  using F = GateFlags;
  static const auto& table = *new SettingTable<GateFlags>(
      "",
      {{.name = "budget",
        .value = setting::Text(&F::budget),
        .purpose = "The file that says what the program may take.",
        .hint = "FILE",
        .topic = "gate",
        .is_common = true},
       {.name = "update",
        .value = setting::Switch(&F::update),
        .purpose = "Run the program three times, and write what it takes into "
                   "the budget; comments and tolerances stay. If there is no "
                   "budget, write one.",
        .topic = "gate",
        .is_common = true},
       {.name = "output_dir",
        .value = setting::Text(&F::output_dir),
        .purpose = "Folder for the recording, its page and budget.txt; for "
                   "budget.txt alone if recordings are held. Default: "
                   "kymo-out/<budget>-<time>.",
        .hint = "DIR",
        .topic = "gate",
        .is_common = true},
       {.name = "xml",
        .value = setting::Text(&F::xml),
        .purpose = "Write a report as JUnit's XML, with a test case for each "
                   "line of the budget.",
        .hint = "FILE",
        .topic = "gate"},
       {.name = "shard",
        .value = setting::Integer(&F::shard, -1, 10000),
        .purpose = "Only this shard of the program's tests runs, so hold the "
                   "lines of this shard; -1: all of the program runs.",
        .topic = "gate"},
       {.name = "filtered",
        .value = setting::Switch(&F::filtered),
        .purpose = "Only some of the program's tests run, so hold no line.",
        .topic = "gate"},
       {.name = "version",
        .value = setting::Switch(&F::version),
        .purpose = "Print the version of Kymo; then exit.",
        .topic = "gate"}});
  return table;
}

Manual MakeGateManual() {
  Manual manual;
  manual.name =
      "kymo gate - holds a program against a budget of what it may "
      "take";
  manual.synopsis =
      "kymo gate --budget=FILE [flags] -- PROGRAM [argument ...]\n"
      "kymo gate --budget=FILE --update -- PROGRAM [argument ...]\n"
      "kymo gate --budget=FILE RECORDING ...";
  manual.description = {
      "Runs the program once recorded and, if the budget has such lines, once "
      "while its calls into the system are counted. Prints a line for each "
      "line of the budget. "
      "Fails if the program made more calls, allocations or bytes than a line "
      "says. Times fail only where the budget says how sure it must be.",
      "A recording may be the folder of a run.",
      "docs/gate.md describes the budget, and the rule for Bazel."};
  manual.examples =
      "kymo gate --budget=app.budget.textproto --update -- ./app\n"
      "kymo gate --budget=app.budget.textproto -- ./app";
  manual.own = GateFlagTable().infos();
  manual.end = kEnd;
  return manual;
}

}  // namespace kymo::tools
