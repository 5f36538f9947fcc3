#include "core/deck.hpp"

#include <fmt/format.h>

#include "core/deck/deck_impl.hpp"
#include "core/deck/unknown_keys.hpp"
#include "core/error.hpp"
#include "core/input_file.hpp"

namespace scree {

namespace {

std::unique_ptr<DeckTable> root_of(const DeckSource& source, DeckErrors& errors,
                                   std::list<Declaration>& declared) {
  return std::make_unique<DeckTable>(declared, "", source, errors, &source.root, source.name + ":1:1");
}

}  // namespace

Deck::Deck(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Deck::~Deck() = default;
Deck::Deck(Deck&&) noexcept = default;
Deck& Deck::operator=(Deck&&) noexcept = default;

Deck Deck::read(const Comm& comm, const std::string& path, const std::vector<std::string>& overrides) {
  std::string text;
  share_errors(comm, [&] {
    if (comm.is_root()) text = text_of(path);
  });
  comm.broadcast(text);
  return from_text(text, path, overrides);
}

std::string Deck::text_of(const std::string& path) {
  if (const std::string obstacle = obstacle_to_read(path); !obstacle.empty())
    throw InputError(fmt::format("{}: cannot read the deck: {}", path, obstacle));
  return read_input(path);
}

Deck Deck::from_text(const std::string& text, const std::string& name,
                     const std::vector<std::string>& overrides) {
  auto impl = std::make_unique<Impl>();
  impl->source = DeckSource::parse(text, name, overrides);
  impl->text = text;
  impl->overrides = overrides;
  impl->root.emplace(root_of(impl->source, impl->errors, impl->declared));
  return Deck(std::move(impl));
}

Section& Deck::root() {
  return *impl_->root;
}

void Deck::require_all_read() const {
  const std::vector<std::string> unknown =
      unknown_keys(impl_->source, impl_->source.root, impl_->declared, "");
  if (!unknown.empty()) throw InputError(unknown.front());
}

std::string errors_of_deck(const std::string& text, const std::string& name,
                           const std::vector<std::string>& overrides, const std::string& first,
                           const std::function<void(Section&)>& describe) {
  DeckErrors errors;
  errors.collect();
  try {
    const DeckSource source = DeckSource::parse(text, name, overrides);
    std::list<Declaration> declared;
    Section root(root_of(source, errors, declared));
    describe(root);
    for (const std::string& message : unknown_keys(source, source.root, declared, "")) errors.add(message);
  } catch (const InputError& error) {
    errors.add(error);
  }
  return errors.any() ? errors.text(name) : first;
}

const std::string& Deck::name() const {
  return impl_->source.name;
}
const std::string& Deck::text() const {
  return impl_->text;
}
const std::vector<std::string>& Deck::warnings() const {
  return impl_->source.warnings;
}
Deck Deck::with(const std::vector<std::string>& more) const {
  std::vector<std::string> all = overrides();
  all.insert(all.end(), more.begin(), more.end());
  return from_text(text(), name(), all);
}

const std::vector<std::string>& Deck::overrides() const {
  return impl_->overrides;
}

}  // namespace scree
