#include "exporters/stacks/speedscope.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exporters/stacks/frame_tree.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/base/time.h"
#include "profiler/text/json_text.h"

namespace kymo::stacks {
namespace {

using model::EventIndex;
using model::StackSample;
using model::Trace;
using model::TrackIndex;

constexpr uint32_t kUnused = ~uint32_t{0};

// The list of frames, of which events and samples hold positions: ranges by
// name, then functions with file and line, then numbers of folded frames.
class Frames {
 public:
  Frames(const Trace& trace, uint32_t max_frames)
      : trace_(trace),
        max_frames_(max_frames),
        ranges_(trace.strings().size(), kUnused),
        functions_(trace.stacks().frame_count(), kUnused) {
    for (EventIndex i = 0; i < trace.event_count(); ++i) {
      if (!model::IsRange(trace.flags()[i])) continue;
      uint32_t& position = ranges_[Index(trace.name()[i])];
      if (position == kUnused) position = count_++;
    }
    FindFunctions();
  }

  uint32_t OfRange(EventIndex event) const {
    return ranges_[Index(trace_.name()[event])];
  }
  uint32_t OfFunction(model::FrameId frame) const {
    return functions_[Index(frame)];
  }

  // Appends the positions of a sample's frames, separated by commas. Outermost
  // frames come first.
  void AppendStack(std::string& out, model::StackId stack) const {
    const std::vector<model::FrameId> frames = trace_.stacks().Frames(stack);
    const auto folded = folded_.find(FoldedFrames(frames.size()));
    const size_t kept =
        folded == folded_.end() ? frames.size() : max_frames_ - 2;
    std::string_view separator = "";
    const auto append = [&](uint32_t position) {
      out += separator;
      json::AppendUint(out, position);
      separator = ",";
    };
    for (size_t i = 0; i < kept; ++i) append(OfFunction(frames[i]));
    if (folded == folded_.end()) return;
    append(folded->second);
    append(OfFunction(frames.back()));
  }

  // Elements of the list, in the order of positions.
  absl::Status Write(ByteSink& sink) const {
    std::vector<std::string> texts(count_);
    for (size_t i = 0; i < ranges_.size(); ++i) {
      if (ranges_[i] == kUnused) continue;
      std::string& text = texts[ranges_[i]];
      text = "{\"name\":";
      AppendName(text, model::NameId{static_cast<uint32_t>(i)});
      text += '}';
    }
    for (size_t i = 0; i < functions_.size(); ++i) {
      if (functions_[i] == kUnused) continue;
      const model::FrameId id{static_cast<uint32_t>(i)};
      texts[functions_[i]] = FunctionText(trace_.stacks().frame(id));
    }
    for (const auto& [count, position] : folded_) {
      texts[position] =
          absl::StrCat("{\"name\":\"", FoldedFramesText(count), "\"}");
    }
    std::string_view separator = "\n";
    for (std::string& text : texts) {
      text.insert(0, separator);
      KYMO_RETURN_IF_ERROR(sink.Append(text));
      separator = ",\n";
    }
    return absl::OkStatus();
  }

 private:
  void FindFunctions() {
    const model::StackTable& stacks = trace_.stacks();
    std::vector<bool> is_seen(stacks.stack_count());
    for (const StackSample& sample : trace_.samples()) {
      for (model::StackId at = sample.stack;
           at != model::kEmptyStack && !is_seen[Index(at)];
           at = stacks.parent(at)) {
        is_seen[Index(at)] = true;
        uint32_t& position = functions_[Index(stacks.leaf(at))];
        if (position == kUnused) position = count_++;
      }
    }
    for (const StackSample& sample : trace_.samples()) {
      if (sample.stack == model::kEmptyStack) continue;
      const uint32_t count = FoldedFrames(stacks.depth(sample.stack));
      if (count == 0) continue;
      if (folded_.try_emplace(count, count_).second) ++count_;
    }
  }

  // How many of a stack's frames one frame stands for; 0: none is left out.
  uint32_t FoldedFrames(size_t depth) const {
    return max_frames_ == 0 || depth <= max_frames_
               ? 0
               : static_cast<uint32_t>(depth) - (max_frames_ - 1);
  }

  void AppendName(std::string& out, model::NameId name) const {
    const std::string_view text = trace_.Name(name);
    json::AppendJsonString(out, text.empty() ? "[unknown]" : text);
  }

  std::string FunctionText(const model::Frame& frame) const {
    std::string text = "{\"name\":";
    AppendName(text, frame.function);
    if (frame.file != model::kEmptyName) {
      text += ",\"file\":";
      json::AppendJsonString(text, trace_.Name(frame.file));
      absl::StrAppend(&text, ",\"line\":", frame.line);
    }
    return text + "}";
  }

  const Trace& trace_;
  const uint32_t max_frames_;
  std::vector<uint32_t> ranges_;         // by NameId
  std::vector<uint32_t> functions_;      // by FrameId
  std::map<uint32_t, uint32_t> folded_;  // by the number of frames
  uint32_t count_ = 0;
};

class Writer {
 public:
  Writer(const Trace& trace, uint32_t max_frames, ByteSink& sink)
      : trace_(trace),
        sink_(sink),
        frames_(trace, max_frames),
        base_ns_(trace.start_ns()),
        output_(sink, 0, nullptr) {
    for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
      if (trace.track_begin(t) == trace.track_end(t)) continue;
      base_ns_ = std::min(base_ns_, trace.start()[trace.track_begin(t)]);
    }
  }

  absl::Status Write() {
    KYMO_RETURN_IF_ERROR(sink_.Append(
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
        "\"exporter\":\"kymo\",\"activeProfileIndex\":0,\n"
        "\"shared\":{\"frames\":["));
    KYMO_RETURN_IF_ERROR(frames_.Write(sink_));
    KYMO_RETURN_IF_ERROR(sink_.Append("]},\n\"profiles\":["));
    std::span<const StackSample> samples = trace_.samples();
    for (TrackIndex t = 0; t < trace_.tracks().size(); ++t) {
      KYMO_RETURN_IF_ERROR(WriteRanges(t));
      const auto end = std::find_if(
          samples.begin(), samples.end(),
          [&](const StackSample& sample) { return sample.track != t; });
      const std::span<const StackSample> here(samples.begin(), end);
      samples = samples.subspan(here.size());
      if (!here.empty()) KYMO_RETURN_IF_ERROR(WriteSamples(t, here));
    }
    if (!has_profile_) {
      KYMO_RETURN_IF_ERROR(BeginProfile("evented", "empty",
                                        trace_.end_ns() - trace_.start_ns()));
      KYMO_RETURN_IF_ERROR(sink_.Append("\"events\":[]}"));
    }
    return sink_.Append("]}\n");
  }

 private:
  absl::Status BeginProfile(std::string_view type, std::string_view name,
                            int64_t end) {
    std::string text = absl::StrCat(has_profile_ ? ",\n" : "\n", "{\"type\":\"",
                                    ToAbsl(type), "\",\"name\":");
    has_profile_ = true;
    json::AppendJsonString(text, name);
    absl::StrAppend(&text,
                    ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":",
                    std::max<int64_t>(end, 0), ",\n");
    return sink_.Append(text);
  }

  // "app 12 worker".
  std::string TrackName(TrackIndex index) const {
    const model::Track& track = trace_.tracks()[index];
    const model::Process* const process = trace_.FindProcess(track.pid);
    std::string text(process == nullptr ? "" : trace_.Name(process->name));
    if (text.empty()) text = absl::StrCat("process ", track.pid);
    const bool is_stream = track.kind == model::TrackKind::kStream;
    absl::StrAppend(&text, is_stream ? " stream " : " ", track.id);
    if (track.name != model::kEmptyName) {
      absl::StrAppend(&text, " ", ToAbsl(trace_.Name(track.name)));
    }
    return text;
  }

  absl::Status WriteRanges(TrackIndex track) {
    const EventIndex first = NextSlice(trace_.track_begin(track), track);
    if (first == trace_.track_end(track)) return absl::OkStatus();
    TimeNs end_ns = trace_.end_ns();
    for (EventIndex i = first; i < trace_.track_end(track); ++i) {
      end_ns = std::max(end_ns, trace_.end()[i]);
    }
    KYMO_RETURN_IF_ERROR(
        BeginProfile("evented", TrackName(track), end_ns - base_ns_));
    KYMO_RETURN_IF_ERROR(sink_.Append("\"events\":["));
    KYMO_RETURN_IF_ERROR(
        output_.Run(trace_.track_end(track) - first,
                    [&](size_t begin, size_t end, std::string& out) {
                      for (size_t i = first + begin; i < first + end; ++i) {
                        const auto event = static_cast<EventIndex>(i);
                        if (!model::IsRange(trace_.flags()[event])) continue;
                        if (event != first) out += ',';
                        AppendSlice(out, track, event);
                      }
                    }));
    return sink_.Append("]}");
  }

  // The first of `event` and those after it that is a slice, or the end.
  EventIndex NextSlice(EventIndex event, TrackIndex track) const {
    const EventIndex end = trace_.track_end(track);
    while (event < end && !model::IsRange(trace_.flags()[event])) ++event;
    return event;
  }

  // A slice's open, and the closes up to the next slice's.
  void AppendSlice(std::string& out, TrackIndex track, EventIndex event) const {
    AppendEvent(out, 'O', event, trace_.start()[event]);
    const EventIndex next = NextSlice(event + 1, track);
    const EventIndex open = next < trace_.track_end(track)
                                ? trace_.parent()[next]
                                : model::kNoEvent;
    for (EventIndex at = event; at != open; at = trace_.parent()[at]) {
      out += ',';
      AppendEvent(out, 'C', at, trace_.end()[at]);
    }
  }

  void AppendEvent(std::string& out, char type, EventIndex event,
                   TimeNs time_ns) const {
    out += "\n{\"type\":\"";
    out += type;
    out += "\",\"frame\":";
    json::AppendUint(out, frames_.OfRange(event));
    out += ",\"at\":";
    json::AppendInt(out, time_ns - base_ns_);
    out += '}';
  }

  absl::Status WriteSamples(TrackIndex track,
                            std::span<const StackSample> samples) {
    int64_t total_ns = 0;
    for (const StackSample& sample : samples) total_ns += Weight(sample);
    KYMO_RETURN_IF_ERROR(
        BeginProfile("sampled", TrackName(track) + " samples", total_ns));
    KYMO_RETURN_IF_ERROR(sink_.Append("\"samples\":["));
    KYMO_RETURN_IF_ERROR(output_.Run(
        samples.size(), [&](size_t begin, size_t end, std::string& out) {
          for (size_t i = begin; i < end; ++i) {
            out += i > 0 ? ",\n[" : "\n[";
            frames_.AppendStack(out, samples[i].stack);
            out += ']';
          }
        }));
    KYMO_RETURN_IF_ERROR(sink_.Append("],\n\"weights\":["));
    KYMO_RETURN_IF_ERROR(output_.Run(
        samples.size(), [&](size_t begin, size_t end, std::string& out) {
          for (size_t i = begin; i < end; ++i) {
            if (i > 0) out += ',';
            json::AppendInt(out, Weight(samples[i]));
          }
        }));
    return sink_.Append("]}");
  }

  // Broken recordings have negative ones, which would turn time back.
  static DurationNs Weight(const StackSample& sample) {
    return std::max<DurationNs>(sample.weight_ns, 0);
  }

  const Trace& trace_;
  ByteSink& sink_;
  const Frames frames_;
  TimeNs base_ns_;
  timeline::OrderedOutput output_;
  bool has_profile_ = false;
};

}  // namespace

absl::Status WriteSpeedscope(const Trace& trace, uint32_t max_frames,
                             ByteSink& sink) {
  return Writer(trace, FrameTree::Limit(max_frames), sink).Write();
}

}  // namespace kymo::stacks
