// report - the program //tools:report, which is `kymo report` alone.
#include <string>
#include <vector>

#include "tools/report_command/main.h"

int main(int argc, char** argv) {
  return kymo::tools::ReportMain(
      std::vector<std::string>(argv + 1, argv + argc));
}
