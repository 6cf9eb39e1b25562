// program_graph.h - the operations of a program for TensorBoard's Graphs
// dashboard.
//
//   const ProgramGraph graph(trace, steps);
//   AppendGraph(file, start_s, graph.GraphDef());
//   AppendRunMetadata(file, start_s, "profile", graph.RunMetadata());
//
// Nodes are call paths (call_paths.h), at most kMaxNodes and the others below
// them. A node's name is those of its callers and its own one with slashes in
// between, which the dashboard shows as boxes within boxes:
//
//   ProfilerStep/forward/matmul     input: ProfilerStep/forward/bias
//
// Data that flows from one operation to the next is not known, calls are: the
// input of a node is what its caller called before it for the first time, and
// that of the first one is the caller. The order is that of the first calls.
//
// In names "::" becomes "." and what the dashboard gives a meaning becomes "_";
// the attribute `name` has the name as it is, `calls`, `total_ns` and `self_ns`
// are of all calls together. `left_out`, of a node "(other)", is how many paths
// it stands for.
//
// The run's metadata gives each node its time (the sum of its calls, laid out
// such that the span of a box is the time of its operation) and the memory that
// it allocated itself (so that a box, which adds up, has that of all in it).
#ifndef KYMO_EXPORTERS_TENSORBOARD_PROGRAM_GRAPH_H_
#define KYMO_EXPORTERS_TENSORBOARD_PROGRAM_GRAPH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "exporters/tensorboard/call_paths.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

class ProgramGraph {
 public:
  // More at one level than a browser draws well would be 10 000.
  static constexpr size_t kMaxNodes = 4'000;

  // `trace` must outlive the object.
  ProgramGraph(const model::Trace& trace, const StepNames& steps,
               size_t max_nodes = kMaxNodes);

  // Messages of tensorflow's GraphDef and RunMetadata.
  std::string GraphDef() const;
  std::string RunMetadata() const;

 private:
  void NameNodes();
  std::string_view OriginalName(const CallPath& path) const;
  void AppendNode(std::string& out, size_t node, std::string_view input) const;
  void AppendStats(std::string& out, size_t node, int64_t start_us) const;
  std::vector<DurationNs> Layout() const;

  const model::Trace& trace_;
  const std::vector<CallPath> paths_;
  std::vector<std::string> names_;  // beside the paths
  model::NameId any_step_ = model::kEmptyName;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_PROGRAM_GRAPH_H_
