// scenario NAME: runs one of scenarios.h and prints what it expects:
//
//   own NAME<tab>COUNT        -1: any number
//   children NAME<tab>COUNT
//   at_least NAME<tab>COUNT
//   open COUNT
//
// scenario list: prints their names. scenario leaf COUNT: see RunLeaf. scenario
// become COUNT: replaces itself by `scenario leaf COUNT`, within a range
// "before exec".
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "kymo/record_function.h"
#include "tests/reliability/scenarios.h"

namespace kymo::reliability {
namespace {

void Print(const char* of, const Counts& counts) {
  for (const auto& [name, count] : counts) {
    printf("%s %s\t%ld\n", of, name.c_str(), static_cast<long>(count));
  }
}

int Main(const std::string& wanted, long count) {
  if (wanted == "leaf") {
    RunLeaf(count);
    return 0;
  }
  if (wanted == "become") {
    RecordFunction range("before exec");
    execl("/proc/self/exe", "leaf", "leaf", std::to_string(count).c_str(),
          nullptr);
    return 1;
  }
  for (const Scenario& scenario : Scenarios()) {
    if (wanted == "list") {
      printf("%s\n", scenario.name);
    } else if (wanted == scenario.name) {
      const Expected expected = scenario.run();
      Print("own", expected.own);
      Print("children", expected.children);
      Print("at_least", expected.at_least);
      printf("open %ld\n", static_cast<long>(expected.open));
      return 0;
    }
  }
  return wanted == "list" ? 0 : 2;
}

}  // namespace
}  // namespace kymo::reliability

int main(int argc, char** argv) {
  return kymo::reliability::Main(argc > 1 ? argv[1] : "",
                                 argc > 2 ? atol(argv[2]) : 0);
}
