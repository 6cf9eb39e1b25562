// path_graph.h - the longest path through a graph of points in time.
//
//   PathGraph graph(/*nodes=*/3);
//   graph.Add({.from = 0, .to = 1, .span_ns = 5});
//   graph.Add({.from = 1, .to = 2, .span_ns = 5});
//   graph.Add({.from = 0, .to = 2, .span_ns = 7});
//   std::vector<size_t> edges = graph.LongestPath();   // 0, 1
//
// Among paths of equal length into a node, the one whose last edge was added
// first wins; among nodes, the one with the smallest number. Nodes on or behind
// a cycle are on no path.
// Cost: linear; 40 bytes an edge and 28 a node.
#ifndef KYMO_PROFILER_ANALYSIS_PATH_GRAPH_H_
#define KYMO_PROFILER_ANALYSIS_PATH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/analysis/path_cause.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"

namespace kymo::analysis {

struct PathEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  TimeNs start_ns = 0;
  DurationNs span_ns = 0;  // >= 0
  model::EventIndex event = model::kNoEvent;
  PathCause cause = PathCause::kHost;
  bool takes_time = true;  // false: the span does not count

  DurationNs weight_ns() const { return takes_time ? span_ns : 0; }
};

class PathGraph {
 public:
  explicit PathGraph(uint32_t node_count) : node_count_(node_count) {}

  // REQUIRES: both nodes are smaller than node_count.
  void Add(const PathEdge& edge) { edges_.push_back(edge); }
  const PathEdge& edge(size_t index) const { return edges_[index]; }

  // The edges of the path with the largest weight, from its beginning.
  std::vector<size_t> LongestPath() const;

 private:
  uint32_t node_count_;
  std::vector<PathEdge> edges_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_PATH_GRAPH_H_
