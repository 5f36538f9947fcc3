#include "run/writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "run/version.hpp"

namespace scree {

namespace {

/// Columns that every table starts with.
template <int D>
std::vector<Table::Heading> first_headings(const RunDeck<D>& deck) {
  std::vector<Table::Heading> headings{{"time", "s"}, {"step", "-"}, {"dt", "s"}, {"n_bodies", "-"}};
  if (!deck.events.stages.empty()) headings.push_back({"stage", "-"});
  for (const CertificateEntry& entry : deck.stepper->certificate())
    headings.push_back({std::string(entry.name), std::string(entry.unit)});
  return headings;
}

}  // namespace

template <int D>
std::vector<Table::Heading> scalars_headings(const RunDeck<D>& deck, const State<D>& state) {
  std::vector<Table::Heading> headings = first_headings(deck);
  std::set<std::string> names;
  for (const Table::Heading& heading : headings) names.insert(heading.name);
  for (const NamedMeasure<D>& measure : deck.measures)
    for (const MeasuredValue& column : columns_of(*measure.measure, state)) {
      headings.push_back({measure.name + "_" + column.name, column.unit});
      if (!names.insert(headings.back().name).second)
        throw InputError(
            fmt::format("{}: [measures.{}] makes a column \"{}\", which the table has already; "
                        "give the measure another name",
                        measure.where, measure.name, headings.back().name));
    }
  return headings;
}

template <int D>
Writers<D>::Writers(const Comm& comm, const RunFiles& files, const RunDeck<D>& deck, const State<D>& state,
                    const std::string& resolved, const files::Texts& provenance,
                    const std::optional<ResumePoint>& resume)
    : comm_(comm), deck_(deck) {
  const OutputSettings& output = deck.output;
  const auto open_table = [&](const std::string& name, const std::vector<Table::Heading>& headings) {
    const std::string path = files.with("." + name + ".csv");
    return std::make_unique<Table>(goes_on_with(comm_, path, resume)
                                       ? Table::resume(comm, path, headings, resume->last_of(name).time)
                                       : Table(comm, path, headings));
  };
  if (output.certificate.ever()) certificate_ = open_table("certificate", first_headings(deck));
  if (output.scalars.ever()) scalars_ = open_table("scalars", scalars_headings(deck, state));
  Environment<D>* environment = deck.stepper->environment();
  OutputSetup<D> setup{{.comm = comm,
                        .files = files,
                        .title = deck.title,
                        .creator = fmt::format("scree {}", version::number),
                        .vtk_writers = static_cast<int>(output.vtk_writers),
                        .single_precision = output.vtk_single,
                        .state = state,
                        .resume = resume},
                       resolved,
                       provenance,
                       deck.outside != Outside::remove && !deck.events.change_bodies() &&
                           !(environment && environment->change_bodies()),
                       deck.stepper->traits().exports_forces,
                       nullptr};
  if (environment) of_environment_ = environment->output().make_writer(setup);
  setup.environment = of_environment_.get();
  for (const auto& one : deck.outputs) {
    if (!is_written(*one)) continue;
    one->open(setup);
    outputs_.push_back(one.get());
  }
}

template <int D>
std::vector<typename Writers<D>::Scheduled> Writers<D>::scheduled() const {
  std::vector<Scheduled> all;
  if (certificate_) all.push_back({"certificate", deck_.output.certificate, false});
  if (scalars_) all.push_back({"scalars", deck_.output.scalars, true});
  for (const Output<D>* output : outputs_)
    all.push_back({output->name(), output->every(), output->uses_contacts()});
  if (of_environment_)
    for (const auto& [name, every, uses_contacts] : of_environment_->scheduled())
      all.push_back({name, every, uses_contacts});
  return all;
}

template <int D>
bool Writers<D>::use_contacts() const {
  return std::ranges::any_of(scheduled(), &Scheduled::uses_contacts);
}

template <int D>
bool Writers<D>::needs_contacts(std::int64_t step, Real before, Real time) const {
  return std::ranges::any_of(outputs_,
                             [&](const Output<D>* output) { return output->takes(step, before, time); }) ||
         std::ranges::any_of(scheduled(), [&](const Scheduled& one) {
           return one.uses_contacts && one.every.due(step, before, time);
         });
}

template <int D>
bool Writers<D>::needs_contact_counts(std::int64_t step, Real before, Real time) const {
  return std::ranges::any_of(outputs_, [&](const Output<D>* output) {
    return output->uses_contact_counts() && output->every().due(step, before, time);
  });
}

template <int D>
std::string Writers<D>::end_frames(std::int64_t step, Real before, Real time) const {
  std::string names;
  for (const Scheduled& one : scheduled())
    if (!one.every.due(step, before, time)) names += (names.empty() ? "" : " ") + std::string(one.name);
  return names;
}

template <int D>
void Writers<D>::write(const OutputFrame<D>& frame, Real before, bool at_end) {
  Scope timer("output");
  const Clock& clock = frame.state.clock;
  const auto wanted = [&](const OutputInterval& every) {
    return every.due(clock.step, before, clock.time) != at_end;
  };
  if (!at_end)
    for (Output<D>* output : outputs_) output->after_step(frame, before);
  if (certificate_ && wanted(deck_.output.certificate)) {
    start_row(frame);
    certificate_->add(row_);
  }
  if (scalars_ && wanted(deck_.output.scalars)) write_row(frame);
  for (Output<D>* output : outputs_) {
    if (!wanted(output->every())) continue;
    output->write(frame);
    if (!at_end) output->frame_is_written();
  }
  if (!of_environment_) return;
  const auto of_environment = of_environment_->scheduled();
  for (std::size_t k = 0; k < of_environment.size(); ++k)
    if (wanted(of_environment[k].every)) of_environment_->write_frame(k, frame.state, frame.contacts);
  if (!at_end) of_environment_->write(frame.state, before);
}

template <int D>
void Writers<D>::complete_frames() {
  for (Output<D>* output : outputs_) output->list_frames();
  for (const auto* table : {&scalars_, &certificate_})
    if (*table) (*table)->keep_in_place();
  if (of_environment_) of_environment_->keep_in_place();
}

template <int D>
void Writers<D>::complete() {
  complete_frames();
  for (Output<D>* output : outputs_) output->complete();
}

template <int D>
std::string Writers<D>::paraview_file() const {
  std::string other;
  for (const Output<D>* output : outputs_) {
    std::string file = output->file_to_view();
    if (output->is_vtk() && !file.empty()) return file;
    if (other.empty()) other = file;
  }
  return other;
}

template <int D>
typename EnvironmentWriter<D>::Summary Writers<D>::finish(const State<D>& state) const {
  if (!of_environment_) return {};
  return of_environment_->finish(state);
}

template <int D>
void Writers<D>::start_row(const OutputFrame<D>& frame) {
  const State<D>& state = frame.state;
  row_ = {state.clock.time, static_cast<Real>(state.clock.step), state.clock.last_dt,
          static_cast<Real>(comm_.sum(static_cast<std::int64_t>(state.bodies.n_owned())))};
  if (const auto n_stages = static_cast<std::int64_t>(deck_.events.stages.list().size()); n_stages > 0)
    row_.push_back(
        static_cast<Real>(std::min(state.stage.index, n_stages - 1)));  // counted from 0, as by --set
  for (const CertificateEntry& entry : frame.stepper.certificate()) row_.push_back(entry.value);
}

template <int D>
void Writers<D>::write_row(const OutputFrame<D>& frame) {
  Scope timer("measures");
  start_row(frame);
  for (const NamedMeasure<D>& m : deck_.measures)
    for (const MeasuredValue& column : m.measure->record({frame.state, frame.contacts}))
      row_.push_back(column.value);
  scalars_->add(row_);
}

template std::vector<Table::Heading> scalars_headings(const RunDeck<2>&, const State<2>&);
template std::vector<Table::Heading> scalars_headings(const RunDeck<3>&, const State<3>&);
template class Writers<2>;
template class Writers<3>;

}  // namespace scree
