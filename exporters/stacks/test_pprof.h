// test_pprof.h - a *.pb.gz as tests see it, and the rules of its readers.
//
//   const DecodedProfile profile = ReadProfile(files["stacks.pb.gz"]);
//   profile.Lines("cpu")    // "main;f 100 process=app (1) thread=main (2)"
//
// Reading checks what every profile must keep, and fails the test where it
// does not: the empty string first, ids from 1 and unique, nothing referred to
// that is not there, a value per type, UTF-8, and no unknown field.
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
  std::vector<std::string> modules;  // of the mappings, the program first
  std::string default_type;
  std::string period;  // "cpu/nanoseconds 1000"
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  std::vector<Sample> samples;
  // By function: "file:line module address" of its locations, in order.
  std::map<std::string, std::vector<std::string>> places;

  // Of one type, what is not 0, sorted.
  std::vector<std::string> Lines(const std::string& type) const;
  int64_t Total(const std::string& type) const;
};

DecodedProfile ReadProfile(const std::string& gzip);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_TEST_PPROF_H_
