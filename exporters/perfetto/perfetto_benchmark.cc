// Export of a million ranges, of operations with all that they can carry and
// of samples, to nowhere and to a file in memory. BM_RangePackets compares our
// writer with protobuf's serialiser.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "exporters/perfetto/event_packets.h"
#include "exporters/perfetto/interned.h"
#include "exporters/perfetto/perfetto_exporter.h"
#include "exporters/perfetto/trace.pb.h"
#include "exporters/proto/proto_writer.h"
#include "profiler/base/op_inputs.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_null_directory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

constexpr int kRanges = 1'000'000;

model::Trace MakeRanges() {
  TestTrace t;
  t.AddProcess(4242, "app");
  const TimeNs base = 1'735'632'360 * kNsPerSecond;
  t.SetWindow(base, base + 1'000 * kRanges);
  const auto main = t.AddThread(4242, 4243, "worker");
  for (int i = 0; i < kRanges / 2; ++i) {
    const std::string name = "ns::operation_" + std::to_string(i % 200);
    t.AddRange(main, name, base + 2'000 * i, base + 2'000 * i + 1'900);
    t.AddRange(main, "inner", base + 2'000 * i + 10, base + 2'000 * i + 900);
  }
  return std::move(t).Build();
}

// Operations with two tensors of 500 shapes, a stack of 20 frames, a number;
// every other one is backward, so that each is the end of a flow.
model::Trace MakeOperations() {
  constexpr int kOperations = 200'000;
  TestTrace t;
  t.AddProcess(4242, "app");
  const auto main = t.AddThread(4242, 4243, "worker");
  t.data().tracks[main].logical_id = 1;
  model::StackId stack = model::kEmptyStack;
  for (uint32_t depth = 0; depth < 20; ++depth) {
    const model::FrameId frame = t.data().stacks.AddFrame(
        {.function = t.Intern("ns::Class::function(int, std::string const&)"),
         .file = t.Intern("/home/user/project/src/module.cc"),
         .line = depth + 1});
    stack = t.data().stacks.Push(stack, frame);
  }
  for (int i = 0; i < kOperations; ++i) {
    const int64_t sizes[] = {i % 500, 1'024};
    const int64_t strides[] = {1'024, 1};
    const TensorMeta tensor = {
        .sizes = sizes, .dtype = DType::kFloat, .strides = strides};
    const Input inputs[] = {tensor, tensor, Input(1)};
    std::string encoded(EncodedInputBytes(inputs, std::size(inputs)), '\0');
    EncodeInputs(inputs, std::size(inputs), encoded.data());
    t.AddRange(main, "aten::addmm", 2'000 * i, 2'000 * i + 1'900);
    t.Describe(static_cast<uint64_t>(i) + 1);
    model::Detail& detail = t.data().details.back();
    detail.inputs = t.Intern(encoded);
    detail.stack = stack;
    detail.sequence_nr = i / 2;
    t.SetRare({.forward_thread = static_cast<uint64_t>(i % 2)});
  }
  return std::move(t).Build();
}

// 100 000 samples, 20 frames deep, most frames shared with the one before.
model::Trace MakeSamples() {
  constexpr int kSamples = 100'000;
  TestTrace t;
  const auto track = t.AddThread(1, 1, "main");
  t.data().sampling_period_ns = kNsPerMs;
  for (int i = 0; i < kSamples; ++i) {
    model::StackId stack = model::kEmptyStack;
    for (int depth = 0; depth < 20; ++depth) {
      const int function = (i * 7919 % 1'000 >> (20 - depth)) * 31 + depth;
      stack = t.data().stacks.Push(
          stack, t.data().stacks.AddFrame(
                     {.function = t.Intern(std::to_string(function))}));
    }
    t.data().samples.push_back({track, stack, i * kNsPerMs, kNsPerMs});
  }
  return std::move(t).Build();
}

// To nowhere; the argument is the number of cores.
void Measure(benchmark::State& state, const model::Trace& trace, size_t items) {
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  NullDirectory out;
  for (auto _ : state) {
    if (!NewPerfettoExporter()->Export(trace, {}, out).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(items));
  state.SetBytesProcessed(out.bytes());
}

void BM_Export_Ranges(benchmark::State& state) {
  Measure(state, MakeRanges(), kRanges);
}
BENCHMARK(BM_Export_Ranges)->ArgName("cores")->Arg(1)->Arg(2)->UseRealTime();

void BM_Export_Operations(benchmark::State& state) {
  const model::Trace trace = MakeOperations();
  Measure(state, trace, trace.event_count());
}
BENCHMARK(BM_Export_Operations)
    ->ArgName("cores")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();

void BM_Export_Samples(benchmark::State& state) {
  const model::Trace trace = MakeSamples();
  Measure(state, trace, trace.samples().size());
}
BENCHMARK(BM_Export_Samples)->ArgName("cores")->Arg(1)->Arg(2)->UseRealTime();

// The file is in memory where the machine has such a place.
void BM_Export_RangesToFile(benchmark::State& state) {
  const model::Trace trace = MakeRanges();
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  if (std::filesystem::exists("/dev/shm")) folder = "/dev/shm";
  folder /= "kymo_perfetto_benchmark." + std::to_string(getpid());
  OutputDirectory out(folder.string());
  ExportOptions options;
  options.gzip = state.range(1) != 0;
  for (auto _ : state) {
    if (!NewPerfettoExporter()->Export(trace, options, out).ok()) std::abort();
  }
  std::filesystem::remove_all(folder);
  state.SetItemsProcessed(state.iterations() * kRanges);
}
BENCHMARK(BM_Export_RangesToFile)
    ->ArgNames({"cores", "gzip"})
    ->Args({1, 0})
    ->Args({2, 0})
    ->Args({2, 1})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// --- the packets of plain ranges, by our writer and by protobuf ---

namespace pf = perfetto;

constexpr model::EventIndex kPacketRanges = 10'000;

// Ranges one after the other, so that each end follows its begin.
model::Trace MakeFlatRanges() {
  TestTrace t;
  t.AddProcess(4242, "app");
  const auto main = t.AddThread(4242, 4243, "worker");
  for (model::EventIndex i = 0; i < kPacketRanges; ++i) {
    const std::string name = "ns::operation_" + std::to_string(i % 200);
    const TimeNs start = 2'000 * TimeNs{i};
    t.AddRange(main, name, start, start + 1'900);
  }
  return std::move(t).Build();
}

void AppendByProtobuf(std::string& out, const model::Trace& trace,
                      uint64_t track) {
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  const auto write = [&](const pf::schema::TracePacket& packet) {
    coded.WriteTag(static_cast<uint32_t>(proto::Tag(
        pf::schema::Trace::kPacketFieldNumber, proto::WireType::kBytes)));
    coded.WriteVarint32(static_cast<uint32_t>(packet.ByteSizeLong()));
    packet.SerializeWithCachedSizes(&coded);
  };
  // Reused, so that no packet allocates.
  pf::schema::TracePacket begin;
  begin.set_trusted_packet_sequence_id(pf::kSequence);
  begin.set_sequence_flags(
      pf::schema::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  pf::schema::TrackEvent& event = *begin.mutable_track_event();
  event.set_type(pf::schema::TrackEvent::TYPE_SLICE_BEGIN);
  event.set_track_uuid(track);
  event.add_category_iids(0);
  pf::schema::TracePacket end;
  end.set_trusted_packet_sequence_id(pf::kSequence);
  end.mutable_track_event()->set_type(pf::schema::TrackEvent::TYPE_SLICE_END);
  end.mutable_track_event()->set_track_uuid(track);
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    begin.set_timestamp(static_cast<uint64_t>(trace.start()[i]));
    event.set_category_iids(0, pf::CategoryId(trace.type()[i]));
    event.set_name_iid(pf::EventNameId(trace.name()[i]));
    write(begin);
    end.set_timestamp(static_cast<uint64_t>(trace.end()[i]));
    write(end);
  }
}

// The fields may stand in another order.
bool AreSamePackets(const std::string& a, const std::string& b) {
  pf::schema::Trace file_a;
  pf::schema::Trace file_b;
  return a.size() == b.size() && file_a.ParseFromString(a) &&
         file_b.ParseFromString(b) &&
         file_a.SerializeAsString() == file_b.SerializeAsString();
}

template <bool kByProtobuf>
void BM_RangePackets(benchmark::State& state) {
  const model::Trace trace = MakeFlatRanges();
  pf::TrackTable tracks(trace);
  const pf::EventPackets packets(trace, tracks, /*base_ns=*/0);
  const auto ours = [&](std::string& out) {
    packets.Append(out, 0, trace.event_count());
  };
  const auto protobufs = [&](std::string& out) {
    AppendByProtobuf(out, trace, tracks.of(0).uuid);
  };
  std::string by_us;
  std::string by_protobuf;
  ours(by_us);
  protobufs(by_protobuf);
  if (!AreSamePackets(by_us, by_protobuf)) std::abort();
  std::string out;
  for (auto _ : state) {
    out.clear();
    if constexpr (kByProtobuf) {
      protobufs(out);
    } else {
      ours(out);
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * kPacketRanges);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(by_us.size()));
}
BENCHMARK(BM_RangePackets<false>)->Name("BM_RangePackets_Kymo");
BENCHMARK(BM_RangePackets<true>)->Name("BM_RangePackets_Protobuf");

}  // namespace
}  // namespace kymo
