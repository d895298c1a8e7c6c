// Package train decides what happens in a merge train: the requests to merge into one base branch, tested by the
// repository's own CI on the exact commits that land. It does no I/O. Fold takes the record of the train, what GitHub shows
// now, the settings and the time, and gives the record as it has to be and the effects that are missing outside.
//
// # The life of a train
//
// A [Request] joins the queue when somebody asks for it, and stays there until its comment shows how it ended. When its
// conditions hold it boards a [Car] with up to Batch others, in the order of the queue. Cars stand in a line: the first on the
// base, each further one on the tip of the one before it. A car is built member by member, so that each [Member] has a tip of
// its own: the commit that holds the base and all members up to it. The tip of the last member is the tip of the car. It is
// pushed to mergexo/train/{base}/{n}, and the repository's workflows test it. Up to Speculate cars are tested at once.
//
// A green car lands once those before it have: the base moves from the commit that the train knows to that very tip. A red car
// whose commits are also in a green car behind it was red by chance: both land, at the tip that is green.
//
// A red car of several is split at the tips of its members, which exist already, so that nothing is built to look for the
// culprit. The first part is new to CI; the last part keeps the tip and its red result. What is green lands; what is red is
// split again, until one member stands alone between a green commit and a red one. While nobody waits behind, one tip in the
// middle is tested at a time, which takes the fewest runs; otherwise as many at once as Speculate allows, which takes the
// least time. Nobody fails on one red result where Retries is 1: the second one is that of the car which was split, or that of
// a re-run of the failed jobs. During this re-run the others are tested beside the suspect, as if it had failed.
//
// A request that fails, is cancelled, closed or merged by hand, has a new head or has to wait again leaves its car. The members
// before it keep their commits; what stood behind it boards again. A base that somebody else moved takes all cars apart. So
// does a train branch that somebody moved or deleted, for its car and those behind. A member that does not merge with those
// before it boards a later car, alone, and fails only if it conflicts with the base itself.
//
// # Who does what
//
// The record is a [Manifest], a ref that is changed by compare-and-swap only. Each run, whatever its event:
//
//  1. reads the manifest ([Decode]; [Rebuild] from the requests where it is lost or damaged), and what [Manifest.Wanted] lists;
//  2. folds. While there are [Build] effects it carries them out, adds the results to the facts and folds again: they change
//     nothing outside;
//  3. writes the manifest, if it has changed, before it carries out anything else. Another run was faster if the swap
//     fails: then it begins at 1;
//  4. carries out the other effects in their order, with their leases. What it learns is a [Result] for the facts of its next
//     fold;
//  5. folds again until there is no effect that it has not tried, and writes the manifest.
//
// An effect is what the record wants and the facts do not show. It comes again with each fold until they show it, so a run may
// die anywhere: the next one goes on. Fold of what Fold gave, with the same facts, changes nothing.
package train
