#include "profiler/analysis/path_graph.h"

#include <algorithm>

namespace kymo::analysis {
namespace {

constexpr uint32_t kNoEdge = ~uint32_t{0};

}  // namespace

std::vector<size_t> PathGraph::LongestPath() const {
  // Edges by the node that they leave, in the order they were added.
  std::vector<uint32_t> first(size_t{node_count_} + 1);
  std::vector<uint32_t> missing(
      node_count_);  // edges into a node that are still to come
  for (const PathEdge& edge : edges_) {
    ++first[edge.from + 1];
    ++missing[edge.to];
  }
  for (uint32_t node = 0; node < node_count_; ++node) {
    first[node + 1] += first[node];
  }
  std::vector<uint32_t> leaving(edges_.size());
  std::vector<uint32_t> next = first;
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    leaving[next[edges_[i].from]++] = i;
  }

  std::vector<DurationNs> distance(node_count_);
  std::vector<uint32_t> best(node_count_, kNoEdge);  // by node: last edge
  std::vector<uint32_t> ready;
  for (uint32_t node = 0; node < node_count_; ++node) {
    if (missing[node] == 0) ready.push_back(node);
  }
  uint32_t end = kNoEdge;
  while (!ready.empty()) {
    const uint32_t node = ready.back();
    ready.pop_back();
    if (end == kNoEdge || distance[node] > distance[end] ||
        (distance[node] == distance[end] && node < end)) {
      end = node;
    }
    for (uint32_t i = first[node]; i < first[node + 1]; ++i) {
      const uint32_t index = leaving[i];
      const PathEdge& edge = edges_[index];
      const DurationNs through = distance[node] + edge.weight_ns();
      if (best[edge.to] == kNoEdge || through > distance[edge.to] ||
          (through == distance[edge.to] && index < best[edge.to])) {
        distance[edge.to] = through;
        best[edge.to] = index;
      }
      if (--missing[edge.to] == 0) ready.push_back(edge.to);
    }
  }

  std::vector<size_t> path;
  while (end != kNoEdge && best[end] != kNoEdge) {
    path.push_back(best[end]);
    end = edges_[best[end]].from;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace kymo::analysis
