#include "profiler/model/stack_table.h"

#include <algorithm>

namespace kymo::model {

namespace {

constexpr size_t kFirstPlaces = 64;

}  // namespace

StackTable::StackTable() : places_(kFirstPlaces) {
  AddNode(kEmptyStack, FrameId{0}, /*begins_run=*/true);
}

size_t StackTable::FrameHash::operator()(const Frame& frame) const noexcept {
  uint64_t hash = frame.address * 0x9e3779b97f4a7c15u;
  hash ^= uint64_t{Index(frame.function)} << 32 | frame.line;
  hash *= 0xff51afd7ed558ccdu;
  hash ^= uint64_t{Index(frame.module)} << 32 | Index(frame.file);
  hash ^= hash >> 29;
  return hash * 0xc4ceb9fe1a85ec53u;
}

FrameId StackTable::AddFrame(const Frame& frame) {
  if (frame_ids_.empty()) {
    for (uint32_t i = 0; i < frames_.size(); ++i) {
      frame_ids_.emplace(frames_[i], FrameId{i});
    }
  }
  const FrameId next{static_cast<uint32_t>(frames_.size())};
  const auto [it, inserted] = frame_ids_.try_emplace(frame, next);
  if (inserted) frames_.push_back(frame);
  return it->second;
}

StackId StackTable::Push(StackId parent, FrameId frame) {
  const StackId next{static_cast<uint32_t>(leaves_.size())};
  const StackId behind{Index(parent) + 1};
  if (behind == next) {
    AddNode(parent, frame, /*begins_run=*/false);
    return next;
  }
  if (!BeginsRun(Index(behind)) && leaf(behind) == frame) return behind;
  // At most three quarters are full with the new one, too.
  if (places_.empty()) {
    MakePlaces(std::max(kFirstPlaces, std::bit_ceil(runs_.size() * 4 / 3 + 2)));
  }
  uint32_t& place = PlaceOf(parent, frame);
  if (place != 0) return StackId{runs_[place].begin};
  place = static_cast<uint32_t>(runs_.size());
  AddNode(parent, frame, /*begins_run=*/true);
  if (runs_.size() * 4 > places_.size() * 3) MakePlaces(places_.size() * 2);
  return next;
}

void StackTable::AddNode(StackId parent, FrameId frame, bool begins_run) {
  const auto node = static_cast<uint32_t>(leaves_.size());
  if (node % 64 == 0) {
    begins_.push_back({.before = static_cast<uint32_t>(runs_.size())});
  }
  if (begins_run) {
    begins_.back().bits |= uint64_t{1} << (node % 64);
    runs_.push_back({node, parent, node == 0 ? 0 : depth(parent) + 1});
  }
  leaves_.push_back(frame);
}

uint32_t& StackTable::PlaceOf(StackId parent, FrameId frame) {
  const uint64_t key = uint64_t{Index(parent)} << 32 | Index(frame);
  uint64_t hash = key * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  const size_t mask = places_.size() - 1;
  size_t place = hash & mask;
  while (places_[place] != 0) {
    const Run& run = runs_[places_[place]];
    if (run.parent == parent && leaf(StackId{run.begin}) == frame) break;
    place = (place + 1) & mask;
  }
  return places_[place];
}

void StackTable::MakePlaces(size_t size) {
  // The old ones go first.
  places_ = std::vector<uint32_t>();
  places_.resize(size);
  for (uint32_t i = 1; i < runs_.size(); ++i) {
    PlaceOf(runs_[i].parent, leaf(StackId{runs_[i].begin})) = i;
  }
}

void StackTable::FreeIndex() {
  frame_ids_ = decltype(frame_ids_)();
  places_ = std::vector<uint32_t>();
}

std::vector<FrameId> StackTable::Frames(StackId id) const {
  std::vector<FrameId> frames(depth(id));
  for (size_t i = frames.size(); i > 0; --i) {
    frames[i - 1] = leaf(id);
    id = parent(id);
  }
  return frames;
}

}  // namespace kymo::model
