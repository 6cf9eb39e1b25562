// profile - the program //tools:profile, which is `kymo profile` alone.
#include <string>
#include <vector>

#include "tools/profile_command/main.h"

int main(int argc, char** argv) {
  return kymo::tools::ProfileMain(
      std::vector<std::string>(argv + 1, argv + argc));
}
