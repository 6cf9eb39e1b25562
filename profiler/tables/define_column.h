// define_column.h - declares a column by how its value is made.
//
//   constexpr Column kColumns[] = {
//       Define("start_ns", "When it began",
//              [](const Source& s, size_t row) {
//                return s.trace().start()[row];
//              }).In("ns"),
//   };
//
// DefineFrom takes values from something that is found once for many rows:
//
//       DefineFrom("depth", "How many ranges of its track are around it",
//                  [](const Source& s) -> const auto& { return s.depth(); },
//                  [](const auto& depth, size_t row) { return depth[row]; })
//
// The type follows from what the function returns: bool, double, a text (NameId
// or TextId), or another number, which becomes an int64. If it returns an
// std::optional of one of these, the column is nullable.
#ifndef KYMO_PROFILER_TABLES_DEFINE_COLUMN_H_
#define KYMO_PROFILER_TABLES_DEFINE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "profiler/model/string_table.h"
#include "profiler/tables/table.h"

namespace kymo::tables {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
struct ValueOf {
  using type = T;
};
template <typename T>
struct ValueOf<std::optional<T>> {
  using type = T;
};

struct FromSource {
  const Source& operator()(const Source& source) const { return source; }
};

// The value, or what stands for none.
template <typename Out, typename Value>
Out ValueOr(const Value& value, Out none) {
  if constexpr (IsOptional<Value>::value) {
    return value ? static_cast<Out>(*value) : none;
  } else {
    return static_cast<Out>(value);
  }
}

template <typename Value>
bool IsThere(const Value& value) {
  if constexpr (IsOptional<Value>::value) return value.has_value();
  return true;
}

// Reads one value after the other; `Get` is inlined into the loop, and so is
// `row_at`, which gives the row of a place in `out`.
template <typename Find, typename Get, typename Out, typename RowAt>
void ReadEach(const Source& source, size_t count, const RowAt& row_at, Out* out,
              uint8_t* valid) {
  const auto& from = Find{}(source);
  for (size_t i = 0; i < count; ++i) {
    const auto value = Get{}(from, row_at(i));
    out[i] = ValueOr<Out>(value, Out{});
    if (valid != nullptr) valid[i] = IsThere(value) ? 1 : 0;
  }
}

template <typename Find, typename Get, typename Out>
void ReadValues(const Source& source, size_t begin, size_t end, Out* out,
                uint8_t* valid) {
  ReadEach<Find, Get>(
      source, end - begin, [begin](size_t i) { return begin + i; }, out, valid);
}

template <typename Find, typename Get, typename Out>
void ReadValuesAt(const Source& source, std::span<const uint32_t> rows,
                  Out* out, uint8_t* valid) {
  ReadEach<Find, Get>(
      source, rows.size(), [rows](size_t i) { return size_t{rows[i]}; }, out,
      valid);
}

template <typename Find, typename Get, typename RowAt>
void ReadEachText(const Source& source, size_t count, const RowAt& row_at,
                  TextId* out) {
  const auto& from = Find{}(source);
  for (size_t i = 0; i < count; ++i) {
    const auto value = Get{}(from, row_at(i));
    if constexpr (IsOptional<std::remove_cv_t<decltype(value)>>::value) {
      out[i] = value ? TextId{Index(*value)} : kNoText;
    } else {
      out[i] = TextId{Index(value)};
    }
  }
}

template <typename Find, typename Get>
void ReadTexts(const Source& source, size_t begin, size_t end, TextId* out) {
  ReadEachText<Find, Get>(
      source, end - begin, [begin](size_t i) { return begin + i; }, out);
}

template <typename Find, typename Get>
void ReadTextsAt(const Source& source, std::span<const uint32_t> rows,
                 TextId* out) {
  ReadEachText<Find, Get>(
      source, rows.size(), [rows](size_t i) { return size_t{rows[i]}; }, out);
}

template <typename Find, typename Get>
constexpr Column DefineFrom(std::string_view name, std::string_view meaning,
                            Find, Get) {
  using From = std::invoke_result_t<Find, const Source&>;
  using Result = std::invoke_result_t<Get, From, size_t>;
  using Value = typename ValueOf<Result>::type;
  Column column{.name = name,
                .is_nullable = IsOptional<Result>::value,
                .meaning = meaning};
  if constexpr (std::is_same_v<Value, TextId> ||
                std::is_same_v<Value, model::NameId>) {
    column.type = ColumnType::kText;
    column.texts = ReadTexts<Find, Get>;
    column.texts_at = ReadTextsAt<Find, Get>;
  } else if constexpr (std::is_same_v<Value, double>) {
    column.type = ColumnType::kDouble;
    column.doubles = ReadValues<Find, Get, double>;
    column.doubles_at = ReadValuesAt<Find, Get, double>;
  } else {
    column.type =
        std::is_same_v<Value, bool> ? ColumnType::kBool : ColumnType::kInt64;
    column.ints = ReadValues<Find, Get, int64_t>;
    column.ints_at = ReadValuesAt<Find, Get, int64_t>;
  }
  return column;
}

template <typename Get>
constexpr Column Define(std::string_view name, std::string_view meaning,
                        Get get) {
  return DefineFrom(name, meaning, FromSource{}, get);
}

// Of an id or number: nothing where it is `none`.
template <typename T>
constexpr std::optional<T> Unless(T value, std::type_identity_t<T> none) {
  return value == none ? std::nullopt : std::optional<T>(value);
}

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_DEFINE_COLUMN_H_
