// plugin_abi.h - where each field of kymo/backend_plugin.h and of
// kymo/exporter_plugin.h stands, for ever.
//
//   if (range->struct_size < kFirstSize<KymoRange>) return "too small";
//
// A library that was built years ago has these places compiled in. So a build
// of Kymo in which one of them differs does not compile. A minor version adds
// fields at the end of a struct: it adds lines here and changes none. The
// numbers follow from the C ABI of 64-bit Linux (System V AMD64 and AAPCS64): a
// field stands at the next multiple of its size.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_ABI_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_ABI_H_

#include <cstddef>
#include <cstdint>

#include "kymo/backend_plugin.h"
#include "kymo/exporter_plugin.h"

namespace kymo {

// The size of a struct in version 1.0: what every library of this major version
// has at least.
template <typename T>
inline constexpr uint32_t kFirstSize = 0;
template <>
inline constexpr uint32_t kFirstSize<KymoSetting> = 72;
template <>
inline constexpr uint32_t kFirstSize<KymoLossCounter> = 24;
template <>
inline constexpr uint32_t kFirstSize<KymoSessionOptions> = 40;
template <>
inline constexpr uint32_t kFirstSize<KymoTargetSetup> = 32;
template <>
inline constexpr uint32_t kFirstSize<KymoRange> = 64;
template <>
inline constexpr uint32_t kFirstSize<KymoInstant> = 48;
template <>
inline constexpr uint32_t kFirstSize<KymoCounter> = 56;
template <>
inline constexpr uint32_t kFirstSize<KymoDeviceWork> = 64;
template <>
inline constexpr uint32_t kFirstSize<KymoRecords> = 72;
template <>
inline constexpr uint32_t kFirstSize<KymoBackendPlugin> = 136;
template <>
inline constexpr uint32_t kFirstSize<KymoTraceEvent> = 80;
template <>
inline constexpr uint32_t kFirstSize<KymoTraceCounter> = 48;
template <>
inline constexpr uint32_t kFirstSize<KymoTraceFact> = 24;
template <>
inline constexpr uint32_t kFirstSize<KymoTrace> = 88;
template <>
inline constexpr uint32_t kFirstSize<KymoOutput> = 40;
template <>
inline constexpr uint32_t kFirstSize<KymoExporterPlugin> = 48;

// The part of a plugin's struct that is the same in every major version.
inline constexpr uint32_t kPluginHeadSize = 8;

#define KYMO_FIELD(type, field, place)            \
  static_assert(offsetof(type, field) == (place), \
                #type "::" #field " has moved: libraries would break")
// The last field of version 1.0.
#define KYMO_LAST_FIELD(type, field, place)                        \
  KYMO_FIELD(type, field, place);                                  \
  static_assert((place) + sizeof(type::field) == kFirstSize<type>, \
                #type " has another size: libraries would break"); \
  static_assert(sizeof(type) >= kFirstSize<type>)

KYMO_FIELD(KymoSetting, struct_size, 0);
KYMO_FIELD(KymoSetting, kind, 4);
KYMO_FIELD(KymoSetting, name, 8);
KYMO_FIELD(KymoSetting, default_value, 16);
KYMO_FIELD(KymoSetting, purpose, 24);
KYMO_FIELD(KymoSetting, least, 32);
KYMO_FIELD(KymoSetting, most, 40);
KYMO_FIELD(KymoSetting, real_least, 48);
KYMO_FIELD(KymoSetting, real_most, 56);
KYMO_LAST_FIELD(KymoSetting, words, 64);

KYMO_FIELD(KymoLossCounter, struct_size, 0);
KYMO_FIELD(KymoLossCounter, reserved, 4);
KYMO_FIELD(KymoLossCounter, name, 8);
KYMO_LAST_FIELD(KymoLossCounter, text, 16);

KYMO_FIELD(KymoSessionOptions, struct_size, 0);
KYMO_FIELD(KymoSessionOptions, target, 4);
KYMO_FIELD(KymoSessionOptions, target_path, 8);
KYMO_FIELD(KymoSessionOptions, scratch_dir, 16);
KYMO_FIELD(KymoSessionOptions, wants, 24);
KYMO_FIELD(KymoSessionOptions, setting_count, 28);
KYMO_LAST_FIELD(KymoSessionOptions, settings, 32);

KYMO_FIELD(KymoTargetSetup, struct_size, 0);
KYMO_FIELD(KymoTargetSetup, reserved, 4);
KYMO_FIELD(KymoTargetSetup, host, 8);
KYMO_FIELD(KymoTargetSetup, set_variable, 16);
KYMO_LAST_FIELD(KymoTargetSetup, load_library, 24);

KYMO_FIELD(KymoRange, struct_size, 0);
KYMO_FIELD(KymoRange, kind, 4);
KYMO_FIELD(KymoRange, process_id, 8);
KYMO_FIELD(KymoRange, thread_id, 16);
KYMO_FIELD(KymoRange, name, 24);
KYMO_FIELD(KymoRange, begin_ns, 32);
KYMO_FIELD(KymoRange, end_ns, 40);
KYMO_FIELD(KymoRange, correlation, 48);
KYMO_FIELD(KymoRange, arg_count, 52);
KYMO_LAST_FIELD(KymoRange, args, 56);

KYMO_FIELD(KymoInstant, struct_size, 0);
KYMO_FIELD(KymoInstant, arg_count, 4);
KYMO_FIELD(KymoInstant, process_id, 8);
KYMO_FIELD(KymoInstant, thread_id, 16);
KYMO_FIELD(KymoInstant, name, 24);
KYMO_FIELD(KymoInstant, time_ns, 32);
KYMO_LAST_FIELD(KymoInstant, args, 40);

KYMO_FIELD(KymoCounter, struct_size, 0);
KYMO_FIELD(KymoCounter, reserved, 4);
KYMO_FIELD(KymoCounter, process_id, 8);
KYMO_FIELD(KymoCounter, thread_id, 16);
KYMO_FIELD(KymoCounter, name, 24);
KYMO_FIELD(KymoCounter, unit, 32);
KYMO_FIELD(KymoCounter, time_ns, 40);
KYMO_LAST_FIELD(KymoCounter, value, 48);

KYMO_FIELD(KymoDeviceWork, struct_size, 0);
KYMO_FIELD(KymoDeviceWork, kind, 4);
KYMO_FIELD(KymoDeviceWork, process_id, 8);
KYMO_FIELD(KymoDeviceWork, device, 16);
KYMO_FIELD(KymoDeviceWork, stream, 20);
KYMO_FIELD(KymoDeviceWork, name, 24);
KYMO_FIELD(KymoDeviceWork, begin_ns, 32);
KYMO_FIELD(KymoDeviceWork, end_ns, 40);
KYMO_FIELD(KymoDeviceWork, correlation, 48);
KYMO_FIELD(KymoDeviceWork, arg_count, 52);
KYMO_LAST_FIELD(KymoDeviceWork, args, 56);

KYMO_FIELD(KymoRecords, struct_size, 0);
KYMO_FIELD(KymoRecords, reserved, 4);
KYMO_FIELD(KymoRecords, host, 8);
KYMO_FIELD(KymoRecords, epoch_offset_ns, 16);
KYMO_FIELD(KymoRecords, add_range, 24);
KYMO_FIELD(KymoRecords, add_instant, 32);
KYMO_FIELD(KymoRecords, add_counter, 40);
KYMO_FIELD(KymoRecords, add_device_work, 48);
KYMO_FIELD(KymoRecords, add_loss, 56);
KYMO_LAST_FIELD(KymoRecords, add_remark, 64);

KYMO_FIELD(KymoBackendPlugin, struct_size, 0);
KYMO_FIELD(KymoBackendPlugin, version, 4);
KYMO_FIELD(KymoBackendPlugin, name, 8);
KYMO_FIELD(KymoBackendPlugin, purpose, 16);
KYMO_FIELD(KymoBackendPlugin, device, 24);
KYMO_FIELD(KymoBackendPlugin, settings, 32);
KYMO_FIELD(KymoBackendPlugin, losses, 40);
KYMO_FIELD(KymoBackendPlugin, setting_count, 48);
KYMO_FIELD(KymoBackendPlugin, loss_count, 52);
KYMO_FIELD(KymoBackendPlugin, availability, 56);
KYMO_FIELD(KymoBackendPlugin, limitation, 64);
KYMO_FIELD(KymoBackendPlugin, create, 72);
KYMO_FIELD(KymoBackendPlugin, prepare, 80);
KYMO_FIELD(KymoBackendPlugin, start, 88);
KYMO_FIELD(KymoBackendPlugin, poll, 96);
KYMO_FIELD(KymoBackendPlugin, set_collecting, 104);
KYMO_FIELD(KymoBackendPlugin, stop, 112);
KYMO_FIELD(KymoBackendPlugin, collect, 120);
KYMO_LAST_FIELD(KymoBackendPlugin, destroy, 128);

KYMO_FIELD(KymoTraceEvent, struct_size, 0);
KYMO_FIELD(KymoTraceEvent, flags, 4);
KYMO_FIELD(KymoTraceEvent, name, 8);
KYMO_FIELD(KymoTraceEvent, category, 16);
KYMO_FIELD(KymoTraceEvent, begin_ns, 24);
KYMO_FIELD(KymoTraceEvent, end_ns, 32);
KYMO_FIELD(KymoTraceEvent, process_id, 40);
KYMO_FIELD(KymoTraceEvent, thread_id, 48);
KYMO_FIELD(KymoTraceEvent, parent, 56);
KYMO_FIELD(KymoTraceEvent, device, 64);
KYMO_FIELD(KymoTraceEvent, arg_count, 68);
KYMO_LAST_FIELD(KymoTraceEvent, correlation, 72);

KYMO_FIELD(KymoTraceCounter, struct_size, 0);
KYMO_FIELD(KymoTraceCounter, reserved, 4);
KYMO_FIELD(KymoTraceCounter, name, 8);
KYMO_FIELD(KymoTraceCounter, process_id, 16);
KYMO_FIELD(KymoTraceCounter, thread_id, 24);
KYMO_FIELD(KymoTraceCounter, time_ns, 32);
KYMO_LAST_FIELD(KymoTraceCounter, value, 40);

KYMO_FIELD(KymoTraceFact, struct_size, 0);
KYMO_FIELD(KymoTraceFact, reserved, 4);
KYMO_FIELD(KymoTraceFact, key, 8);
KYMO_LAST_FIELD(KymoTraceFact, json, 16);

KYMO_FIELD(KymoTrace, struct_size, 0);
KYMO_FIELD(KymoTrace, reserved, 4);
KYMO_FIELD(KymoTrace, host, 8);
KYMO_FIELD(KymoTrace, begin_ns, 16);
KYMO_FIELD(KymoTrace, end_ns, 24);
KYMO_FIELD(KymoTrace, event_count, 32);
KYMO_FIELD(KymoTrace, counter_count, 40);
KYMO_FIELD(KymoTrace, fact_count, 48);
KYMO_FIELD(KymoTrace, get_event, 56);
KYMO_FIELD(KymoTrace, get_arg, 64);
KYMO_FIELD(KymoTrace, get_counter, 72);
KYMO_LAST_FIELD(KymoTrace, get_fact, 80);

KYMO_FIELD(KymoOutput, struct_size, 0);
KYMO_FIELD(KymoOutput, setting_count, 4);
KYMO_FIELD(KymoOutput, host, 8);
KYMO_FIELD(KymoOutput, settings, 16);
KYMO_FIELD(KymoOutput, write, 24);
KYMO_LAST_FIELD(KymoOutput, progress, 32);

KYMO_FIELD(KymoExporterPlugin, struct_size, 0);
KYMO_FIELD(KymoExporterPlugin, version, 4);
KYMO_FIELD(KymoExporterPlugin, name, 8);
KYMO_FIELD(KymoExporterPlugin, purpose, 16);
KYMO_FIELD(KymoExporterPlugin, settings, 24);
KYMO_FIELD(KymoExporterPlugin, setting_count, 32);
KYMO_FIELD(KymoExporterPlugin, reserved, 36);
KYMO_LAST_FIELD(KymoExporterPlugin, export_trace, 40);

// These two have no struct_size, and never change.
KYMO_FIELD(KymoSettingValue, name, 0);
KYMO_FIELD(KymoSettingValue, value, 8);
static_assert(sizeof(KymoSettingValue) == 16);
KYMO_FIELD(KymoArg, key, 0);
KYMO_FIELD(KymoArg, kind, 8);
KYMO_FIELD(KymoArg, reserved, 12);
KYMO_FIELD(KymoArg, integer, 16);
KYMO_FIELD(KymoArg, real, 24);
KYMO_FIELD(KymoArg, text, 32);
static_assert(sizeof(KymoArg) == 40);

#undef KYMO_FIELD
#undef KYMO_LAST_FIELD

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_ABI_H_
