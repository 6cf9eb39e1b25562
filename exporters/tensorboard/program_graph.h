// program_graph.h - the operations of a program for TensorBoard's Graphs
// dashboard.
//
//   const ProgramGraph graph(trace, steps);
//   AppendGraph(file, start_s, graph.GraphDef());
//   AppendRunMetadata(file, start_s, "profile", graph.RunMetadata());
//
// A node is a call path (call_paths.h), so there is one for all steps and one
// for "request 1", "request 2" and so on. There are at most kMaxNodes nodes,
// plus those that stand for paths left out. The name of a node is the names of
// its callers and its own name with slashes between them. The dashboard shows
// this as boxes within boxes:
//
//   ProfilerStep/forward/matmul     input: ProfilerStep/forward/bias
//
// A trace knows which operation called which, but not which data flows between
// them. So the input of a node is the node that its caller called before it, in
// the order of the first calls. The input of the first node is the caller.
//
// In names, "::" becomes "." and characters with a meaning in the dashboard
// become "_". The attribute `name` holds the original name. `calls`, `total_ns`
// and `self_ns` are sums over all calls. In a node "(other)", `left_out` is the
// number of paths that it stands for.
//
// The run's metadata gives each node its time and memory. The time is the sum
// of its calls, laid out so that the span of a box is the time of its
// operation. The memory is what the operation allocated itself. The dashboard
// adds it up, so a box shows the memory of everything inside it.
#ifndef KYMO_EXPORTERS_TENSORBOARD_PROGRAM_GRAPH_H_
#define KYMO_EXPORTERS_TENSORBOARD_PROGRAM_GRAPH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "exporters/tensorboard/call_paths.h"
#include "exporters/tensorboard/name_families.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

class ProgramGraph {
 public:
  // A browser draws up to about 10 000 nodes of one level well.
  static constexpr size_t kMaxNodes = 4'000;

  // `trace` must outlive this object.
  ProgramGraph(const model::Trace& trace, const StepNames& steps,
               size_t max_nodes = kMaxNodes);

  // The bytes of the messages GraphDef and RunMetadata (event.proto).
  std::string GraphDef() const;
  std::string RunMetadata() const;

 private:
  void NameNodes();
  std::string OriginalName(const CallPath& path) const;
  void AppendNode(std::string& out, size_t node, std::string_view input) const;
  void AppendStats(std::string& out, size_t node, int64_t start_us) const;
  std::vector<DurationNs> Layout() const;

  const model::Trace& trace_;
  const NameFamilies families_;
  const std::vector<CallPath> paths_;
  std::vector<std::string> names_;  // by path
  model::NameId any_step_ = model::kEmptyName;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_PROGRAM_GRAPH_H_
