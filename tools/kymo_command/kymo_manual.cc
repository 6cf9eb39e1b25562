#include "tools/kymo_command/kymo_manual.h"

#include <vector>

#include "profiler/plugin/settings.h"

namespace kymo::tools {
namespace {

constexpr char kEnd[] =
    "\nCOMMANDS\n"
    "    profile    records a program; kymo profile --help\n"
    "    report     reads traces; kymo report --help\n"
    "    gate       holds a program against a budget; kymo gate --help\n"
    "    compare    runs two programs in turns; kymo compare --help\n"
    "    help       shows the manual of a command; kymo help report all\n"
    "    version    prints the version of Kymo, as --version and -v do\n\n"
    "EXIT STATUS\n"
    "    That of the command; 2 if there is no such command.\n";

}  // namespace

Manual MakeKymoManual() {
  static const auto& flags = *new std::vector<SettingInfo>{
      {.name = "help", .purpose = "Print this page; then exit."},
      {.name = "version", .purpose = "Print the version of Kymo; then exit."}};
  Manual manual;
  manual.name = "kymo - shows where the time and the memory of a program go";
  manual.synopsis =
      "kymo [flags] -- target [argument ...]\n"
      "kymo profile [flags] target [argument ...]\n"
      "kymo report [flags] FILE ...\n"
      "kymo gate --budget=FILE -- program [argument ...]\n"
      "kymo compare [flags] BASE HEAD [argument ...]\n"
      "kymo help [command [topic]]";
  manual.description = {
      "Records a program, and prints where its time went: ranges that the "
      "program annotates, samples of any other program, memory, devices. "
      "Writes a timeline and stacks as files, and reads such files of other "
      "tools as well.",
      "A first word that is a flag, or --, stands for kymo profile."};
  manual.examples =
      "kymo -- xz -9 -k FILE\n"
      "kymo --profile_memory -- ./train\n"
      "kymo report kymo-out/xz-20260501-101500";
  manual.own = flags;
  manual.end = kEnd;
  return manual;
}

}  // namespace kymo::tools
