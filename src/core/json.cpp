#include "core/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace scree {

using Text = nlohmann::ordered_json;

/// To and from the library that knows the text.
class JsonText {
 public:
  static Text text_of(const Json& json) {
    switch (json.kind_) {
      case Json::Kind::null:
        return nullptr;
      case Json::Kind::boolean:
        return json.integer_ != 0;
      case Json::Kind::integer:
        return json.integer_;
      case Json::Kind::natural:
        return static_cast<std::uint64_t>(json.integer_);
      case Json::Kind::real:
        return json.real_;
      case Json::Kind::text:
        return json.text_;
      case Json::Kind::array: {
        Text text = Text::array();
        for (const Json& value : json.values_) text.push_back(text_of(value));
        return text;
      }
      case Json::Kind::object:
        break;
    }
    Text text = Text::object();
    for (std::size_t i = 0; i < json.keys_.size(); ++i) text[json.keys_[i]] = text_of(json.values_[i]);
    return text;
  }

  static Json json_of(const Text& text) {
    if (text.is_boolean()) return text.get<bool>();
    if (text.is_number_unsigned()) return text.get<std::uint64_t>();
    if (text.is_number_integer()) return text.get<std::int64_t>();
    if (text.is_number()) return text.get<Real>();
    if (text.is_string()) return text.get<std::string>();
    Json json;
    if (text.is_array()) {
      json = Json::array();
      for (const Text& value : text) json.push_back(json_of(value));
    } else if (text.is_object()) {
      json = Json::object();
      for (const auto& [key, value] : text.items()) {
        json.keys_.push_back(key);
        json.values_.push_back(json_of(value));
      }
    }
    return json;
  }
};

Json::Json(std::string text) : kind_(Kind::text), text_(std::move(text)) {}

Json::Json(std::initializer_list<Json> parts) {
  const auto is_member = [](const Json& part) {
    return part.is_array() && part.size() == 2 && part[0].is_string();
  };
  if (!std::ranges::all_of(parts, is_member)) {
    kind_ = Kind::array;
    values_ = parts;
    return;
  }
  kind_ = Kind::object;
  for (const Json& part : parts) (*this)[part.values_[0].text_] = part.values_[1];
}

Json Json::array() {
  Json json;
  json.kind_ = Kind::array;
  return json;
}

Json Json::object() {
  Json json;
  json.kind_ = Kind::object;
  return json;
}

Json Json::parse(const std::string& text) {
  try {
    return JsonText::json_of(Text::parse(text));
  } catch (const Text::exception& error) {
    throw JsonError(error.what());
  }
}

Json Json::parse_or_null(const std::string& text) {
  const Text parsed = Text::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json() : JsonText::json_of(parsed);
}

std::string Json::dump(int indent, bool replace_not_utf8) const {
  try {
    return JsonText::text_of(*this).dump(
        indent, ' ', false,
        replace_not_utf8 ? Text::error_handler_t::replace : Text::error_handler_t::strict);
  } catch (const Text::exception& error) {
    throw JsonError(error.what());
  }
}

Json& Json::operator[](std::string_view key) {
  if (kind_ == Kind::null) kind_ = Kind::object;
  if (kind_ != Kind::object) is_no("object");
  const auto found = std::ranges::find(keys_, key);
  if (found != keys_.end()) return values_[found - keys_.begin()];
  keys_.emplace_back(key);
  return values_.emplace_back();
}

const Json* Json::find(std::string_view key) const {
  const auto found = std::ranges::find(keys_, key);
  return found == keys_.end() ? nullptr : &values_[found - keys_.begin()];
}

const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw JsonError("key '" + std::string(key) + "' not found");
}

std::vector<std::pair<std::string, Json>> Json::members() const {
  std::vector<std::pair<std::string, Json>> all;
  for (std::size_t i = 0; i < keys_.size(); ++i) all.emplace_back(keys_[i], values_[i]);
  return all;
}

void Json::erase(std::string_view key) {
  const auto found = std::ranges::find(keys_, key);
  if (found == keys_.end()) return;
  values_.erase(values_.begin() + (found - keys_.begin()));
  keys_.erase(found);
}

void Json::push_back(Json value) {
  if (kind_ == Kind::null) kind_ = Kind::array;
  if (kind_ != Kind::array) is_no("array");
  values_.push_back(std::move(value));
}

void Json::update(const Json& other) {
  for (std::size_t i = 0; i < other.keys_.size(); ++i) (*this)[other.keys_[i]] = other.values_[i];
}

void Json::is_no(const char* what) const {
  throw JsonError("a value is no " + std::string(what) + ": " + dump(-1, true));
}

template <>
Json Json::get<Json>() const {
  return *this;
}
template <>
bool Json::get<bool>() const {
  if (kind_ != Kind::boolean) is_no("boolean");
  return integer_ != 0;
}
template <>
Real Json::get<Real>() const {
  if (!is_number()) is_no("number");
  if (kind_ == Kind::natural) return static_cast<Real>(static_cast<std::uint64_t>(integer_));
  return kind_ == Kind::real ? real_ : static_cast<Real>(integer_);
}
template <>
std::int64_t Json::get<std::int64_t>() const {
  if (!is_number()) is_no("number");
  return kind_ == Kind::real ? static_cast<std::int64_t>(real_) : integer_;
}
template <>
int Json::get<int>() const {
  return static_cast<int>(get<std::int64_t>());
}
template <>
std::string Json::get<std::string>() const {
  if (!is_string()) is_no("text");
  return text_;
}
template <>
std::vector<std::string> Json::get<std::vector<std::string>>() const {
  if (!is_array()) is_no("list");
  std::vector<std::string> texts;
  for (const Json& value : values_) texts.push_back(value.get<std::string>());
  return texts;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number())
    return a.is_integer() && b.is_integer() ? a.integer_ == b.integer_ : a.get<Real>() == b.get<Real>();
  return a.kind_ == b.kind_ && a.integer_ == b.integer_ && a.text_ == b.text_ && a.keys_ == b.keys_ &&
         a.values_ == b.values_;
}

}  // namespace scree
