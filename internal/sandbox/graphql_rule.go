package sandbox

import "github.com/mergexo/mergexo/internal/model"

// gqlRule is https://docs.github.com/en/graphql/reference/objects#refupdaterule: the protection of a branch, for everybody's
// eyes.
type gqlRule struct {
	f *gqlRef
	p *Protection
}

// RefUpdateRule is null for what is not protected, for rulesets, and for administrators whatever is protected:
// https://github.com/fpicalausa/remove-stale-branches/issues/76
func (f *gqlRef) RefUpdateRule() *gqlRule {
	if p := f.r.classic(f.branch()); p != nil && f.look.s.world.permission(f.r, f.look.viewer.Login) < model.PermissionAdmin {
		return &gqlRule{f, p}
	}
	return nil
}

func (u *gqlRule) RequiresLinearHistory() bool { return u.p.Linear }
func (u *gqlRule) RequiresSignatures() bool    { return u.p.Signed }
func (u *gqlRule) RequiredApprovingReviewCount() *int32 {
	return some(int32(u.p.Approvals))
}

// RequiredStatusCheckContexts is null where none is required.
func (u *gqlRule) RequiredStatusCheckContexts() *[]*string {
	if len(u.p.Checks) == 0 {
		return nil
	}
	names := make([]*string, len(u.p.Checks))
	for i := range names {
		names[i] = &u.p.Checks[i]
	}
	return &names
}

// ViewerCanPush is about who may, and says nothing of what the commit that is pushed has to have: how far GitHub's own answer
// goes is not documented.
func (u *gqlRule) ViewerCanPush() bool {
	return u.f.look.s.world.permission(u.f.r, u.f.look.viewer.Login) >= model.PermissionWrite && u.p.mayPush(u.f.look.viewer.Login)
}

func (r *gqlRepository) MergeCommitAllowed() bool { return !r.r.NoMethods["merge"] }
func (r *gqlRepository) SquashMergeAllowed() bool { return !r.r.NoMethods["squash"] }
func (r *gqlRepository) RebaseMergeAllowed() bool { return !r.r.NoMethods["rebase"] }

// DeleteBranchOnMerge is a setting of the repository.
func (r *gqlRepository) DeleteBranchOnMerge() bool { return r.r.DeletesHeads }

// LatestOpinionatedReviews are the newest opinion of each person.
func (p *gqlPull) LatestOpinionatedReviews(args struct {
	pageArgs
	WritersOnly bool
}) (*connection[gqlReview], error) {
	return pageOf(args.pageArgs, listing[*Review, gqlReview]{items: p.look.s.pulls.opinions(p.i, args.WritersOnly), wrap: p.look.review,
		key: func(_ int, v *Review) sortKey { return sortKey{v.SubmittedAt.Unix(), v.ID} }})
}
