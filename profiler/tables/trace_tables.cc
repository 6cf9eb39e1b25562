#include "profiler/tables/trace_tables.h"

#include "profiler/tables/source.h"

namespace kymo::tables {

TraceTables::TraceTables(const model::Trace& trace)
    : source_(std::make_unique<const Source>(trace)) {}
TraceTables::TraceTables(TraceTables&&) noexcept = default;
TraceTables& TraceTables::operator=(TraceTables&&) noexcept = default;
TraceTables::~TraceTables() = default;

const model::Trace& TraceTables::trace() const { return source_->trace(); }

std::string_view TraceTables::Text(TextId id) const {
  return source_->texts().Get(id);
}

size_t TraceTables::text_count() const { return source_->texts().count(); }

}  // namespace kymo::tables
