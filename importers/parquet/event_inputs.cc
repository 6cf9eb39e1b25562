#include "importers/parquet/event_inputs.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace kymo::parquet_import {

std::vector<model::NameId> ReadInputs(const RowGroup& group,
                                      const InputColumns& columns,
                                      model::StringTable& strings) {
  if (std::ranges::all_of(columns, [&](size_t c) { return group.IsNull(c); })) {
    return {};
  }
  // One parse for all rows that have the same texts.
  std::map<std::array<uint32_t, chrome_import::kInputKeys>, model::NameId>
      known;
  std::vector<model::NameId> inputs(group.rows(), model::kEmptyName);
  for (size_t row = 0; row < group.rows(); ++row) {
    std::array<uint32_t, chrome_import::kInputKeys> key = {};
    chrome_import::InputTexts texts;
    bool has_any = false;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!group.Has(columns[i], row)) continue;
      has_any = true;
      key[i] = group.Text(columns[i], row) + 1;
      texts.text[i] = group.TextOf(columns[i], row);
    }
    if (!has_any) continue;
    const auto [it, is_new] = known.try_emplace(key, model::kEmptyName);
    if (is_new) {
      it->second = strings.Intern(chrome_import::EncodeInputTexts(texts).bytes);
    }
    inputs[row] = it->second;
  }
  return inputs;
}

}  // namespace kymo::parquet_import
