#include "profiler/symbolize/named_places.h"

namespace kymo::symbolize {

uint64_t NamedPlaces::Intern(const NamedPlace& place) {
  std::string key(place.function);
  key.push_back('\0');
  key.append(place.file);
  const auto [text, is_new_text] = text_numbers_.try_emplace(
      std::move(key), static_cast<uint32_t>(texts_.size()));
  if (is_new_text) {
    texts_.push_back({std::string(place.function), std::string(place.file)});
  }
  const uint32_t texts = text->second;
  const auto [at, is_new] = place_numbers_.try_emplace(
      uint64_t{texts} << 32 | place.line, places_.size());
  if (is_new) places_.push_back({texts, place.line});
  return at->second;
}

NamedPlace NamedPlaces::place(uint64_t number) const {
  const Place& place = places_[number];
  const Texts& texts = texts_[place.texts];
  return {texts.function, texts.file, place.line};
}

}  // namespace kymo::symbolize
