// Uses Kymo's Abseil; other.cc uses the system's. Prints what both say.
#include <cstdio>
#include <string>

#include "kymo/schedule.h"

std::string SayOfOtherAbseil(int number);

int main() {
  const auto schedule = kymo::MakeSchedule({.active = 0});
  std::printf("%s\n%s\n", std::string(schedule.status().message()).c_str(),
              SayOfOtherAbseil(schedule.ok()).c_str());
}
