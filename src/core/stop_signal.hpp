#pragma once
#include <string>

/// Signals that ask a run to end in good order: SIGINT (Ctrl-C), SIGTERM and SIGUSR1.
namespace scree::stop_signal {

/// To be called first thing in main, before MPI starts: from then on these signals are noted and end nothing.
/// A second SIGINT or SIGTERM, half a second or more after the first signal, ends the process at once:
/// launchers hand one Ctrl-C on twice. A signal that the process was started to ignore stays ignored. Local.
void watch();
/// Gives the signals their usual effect back, also one that has come meanwhile: for work that leaves nothing
/// to save. Local.
void release();
/// Whether this process says on standard error that a signal has come; no, at first. Local.
void announce(bool yes);
/// The first signal that has come since watch(); 0: none. Each rank knows its own. Local.
int received();
/// "SIGINT (Ctrl-C)"
std::string name_of(int signal);

}  // namespace scree::stop_signal
