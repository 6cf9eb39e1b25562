// test_pprof.h - reads a *.pb.gz for tests, and checks its rules.
//
//   const DecodedProfile profile = ReadProfile(files["stacks.pb.gz"]);
//   profile.Lines("cpu")    // "main;f 100 process=app (1) thread=main (2)"
//
// Reading fails the test unless the empty string comes first, ids are unique
// and start at 1, every id that is used exists, every sample has a value for
// each type, texts are UTF-8, and profile.proto has every field.
#ifndef KYMO_EXPORTERS_STACKS_TEST_PPROF_H_
#define KYMO_EXPORTERS_STACKS_TEST_PPROF_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kymo::stacks {

struct DecodedProfile {
  struct Sample {
    std::string stack;   // "main;f", root first
    std::string labels;  // "process=app (1) thread=main (2)"
    std::vector<int64_t> values;
  };

  std::vector<std::string> types;    // "cpu/nanoseconds"
  std::vector<std::string> modules;  // by mapping, the program's first
  std::string default_type;
  std::string period;  // "cpu/nanoseconds 1000"
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  std::vector<Sample> samples;
  // By function, its locations in order: "file:line module address".
  std::map<std::string, std::vector<std::string>> places;

  // The samples whose value of this type is not 0, sorted.
  std::vector<std::string> Lines(const std::string& type) const;
  int64_t Total(const std::string& type) const;
};

DecodedProfile ReadProfile(const std::string& gzip);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_TEST_PPROF_H_
