// launch_check.h - what PyTorch demands of a database of nvprof.
//
//   LaunchCheck check(findings);
//   check.AddMarkerStart(1, 100);
//   check.AddMarkerEnd(1, 500);
//   check.AddCall({.row = 10, .cbid = 211, .start_ns = 150, .end_ns = 200,
//                  .correlation = 77});
//   check.AddKernel(77);
//   absl::Status first = check.Run();   // and all of them as findings
//
// A kernel belongs to the ranges that its call lies in, strictly, on whatever
// thread. Its call must be a launch, and have launched nothing else; a marker's
// id comes once.
#ifndef KYMO_IMPORTERS_NVPROF_LAUNCH_CHECK_H_
#define KYMO_IMPORTERS_NVPROF_LAUNCH_CHECK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "importers/sqlite/findings.h"
#include "profiler/base/time.h"

namespace kymo::nvprof {

struct RuntimeCall {
  int64_t row = 0;  // its _id_
  int64_t cbid = 0;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  int64_t correlation = 0;
};

class LaunchCheck {
 public:
  explicit LaunchCheck(sqlite::Findings& findings) : findings_(findings) {}

  // In the order of the table. False if the id is taken.
  bool AddMarkerStart(int64_t id, TimeNs time_ns);
  bool AddMarkerEnd(int64_t id, TimeNs time_ns);
  void AddCall(const RuntimeCall& call);
  void AddKernel(int64_t correlation) { kernels_.push_back(correlation); }

  // The first thing that PyTorch would refuse, or OK.
  absl::Status Run();

 private:
  struct Marker {
    int64_t id = 0;
    std::optional<TimeNs> start_ns;
    std::optional<TimeNs> end_ns;
  };

  Marker& MarkerOf(int64_t id);
  // The first marker, in table order, that a call lies in.
  const Marker* FirstAround(const RuntimeCall& call) const;
  void Refuse(const char* rule, const absl::Status& status);

  sqlite::Findings& findings_;
  std::vector<Marker> markers_;
  absl::flat_hash_map<int64_t, size_t> marker_of_id_;
  std::vector<RuntimeCall> calls_;
  absl::flat_hash_map<int64_t, size_t> call_of_correlation_;
  std::vector<int64_t> kernels_;
  absl::Status first_;
};

}  // namespace kymo::nvprof

#endif  // KYMO_IMPORTERS_NVPROF_LAUNCH_CHECK_H_
