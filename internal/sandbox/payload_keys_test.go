package sandbox

// What GitHub's own example payloads have (npm @octokit/webhooks-examples 7.6.1): the keys that all examples of an event
// and action share, and those of the objects in them. An issue's draft is left out: it is GitHub's for pull requests.

var exampleKeys = map[string]string{
	"check_run.completed":                 "action check_run repository sender",
	"check_run.created":                   "action check_run repository sender",
	"check_suite.completed":               "action check_suite repository sender",
	"create":                              "description master_branch pusher_type ref ref_type repository sender",
	"delete":                              "pusher_type ref ref_type repository sender",
	"issue_comment.created":               "action comment issue repository sender",
	"issue_comment.deleted":               "action comment issue repository sender",
	"issue_comment.edited":                "action changes comment issue repository sender",
	"issues.assigned":                     "action assignee issue repository sender",
	"issues.edited":                       "action changes issue repository sender",
	"issues.labeled":                      "action issue label repository sender",
	"issues.opened":                       "action issue repository sender",
	"issues.reopened":                     "action issue repository sender",
	"issues.unlabeled":                    "action issue label repository sender",
	"label.created":                       "action label repository sender",
	"label.deleted":                       "action label repository sender",
	"label.edited":                        "action changes label repository sender",
	"pull_request.closed":                 "action number pull_request repository sender",
	"pull_request.labeled":                "action label number pull_request repository sender",
	"pull_request.opened":                 "action number pull_request repository sender",
	"pull_request.reopened":               "action number pull_request repository sender",
	"pull_request.review_requested":       "action number pull_request repository requested_reviewer sender",
	"pull_request.synchronize":            "action after before number pull_request repository sender",
	"pull_request_review.dismissed":       "action pull_request repository review sender",
	"pull_request_review.submitted":       "action pull_request repository review sender",
	"pull_request_review_comment.created": "action comment pull_request repository sender",
	"pull_request_review_comment.deleted": "action comment pull_request repository sender",
	"pull_request_review_comment.edited":  "action changes comment pull_request repository sender",
	"push":                                "after base_ref before commits compare created deleted forced head_commit pusher ref repository sender",
	"status":                              "branches commit context created_at description id name repository sender sha state target_url updated_at",
	"workflow_dispatch":                   "inputs ref repository sender workflow",
	"workflow_run.completed":              "action repository sender workflow workflow_run",
	"workflow_run.requested":              "action repository sender workflow workflow_run",
}

var exampleObjects = map[string]string{
	"check_run": "app check_suite completed_at conclusion details_url external_id head_sha html_url id name node_id output pull_requests started_at status url",
	"check_suite": "after app before check_runs_url conclusion created_at head_branch head_commit head_sha id latest_check_runs_count node_id " +
		"pull_requests status updated_at url",
	"issue": "active_lock_reason assignee assignees author_association body closed_at comments comments_url created_at events_url " +
		"html_url id labels labels_url locked milestone node_id number performed_via_github_app reactions repository_url state " +
		"timeline_url title updated_at url user",
	"issue_comment comment": "author_association body created_at html_url id issue_url node_id performed_via_github_app reactions updated_at url user",
	"label":                 "color default description id name node_id url",
	"pull_request pull_request": "_links active_lock_reason additions assignee assignees author_association auto_merge base body changed_files closed_at " +
		"comments comments_url commits commits_url created_at deletions diff_url draft head html_url id issue_url labels locked " +
		"maintainer_can_modify merge_commit_sha mergeable mergeable_state merged merged_at merged_by milestone node_id number " +
		"patch_url rebaseable requested_reviewers requested_teams review_comment_url review_comments review_comments_url state " +
		"statuses_url title updated_at url user",
	"pull_request_review pull_request": "_links active_lock_reason assignee assignees author_association auto_merge base body closed_at comments_url commits_url " +
		"created_at diff_url draft head html_url id issue_url labels locked merge_commit_sha merged_at milestone node_id number " +
		"patch_url requested_reviewers requested_teams review_comment_url review_comments_url state statuses_url title updated_at " +
		"url user",
	"pull_request_review_comment comment": "_links author_association body commit_id created_at diff_hunk html_url id line node_id original_commit_id original_line " +
		"original_position original_start_line path position pull_request_review_id pull_request_url reactions side start_line " +
		"start_side updated_at url user",
	"pull_request_review_comment pull_request": "_links active_lock_reason assignee assignees author_association base body closed_at comments_url commits_url created_at " +
		"diff_url head html_url id issue_url labels locked merge_commit_sha merged_at milestone node_id number patch_url " +
		"requested_reviewers requested_teams review_comment_url review_comments_url state statuses_url title updated_at url user",
	"push repository": "archive_url archived assignees_url blobs_url branches_url clone_url collaborators_url comments_url commits_url " +
		"compare_url contents_url contributors_url created_at default_branch deployments_url description disabled downloads_url " +
		"events_url fork forks forks_count forks_url full_name git_commits_url git_refs_url git_tags_url git_url has_downloads " +
		"has_issues has_pages has_projects has_wiki homepage hooks_url html_url id issue_comment_url issue_events_url issues_url " +
		"keys_url labels_url language languages_url license master_branch merges_url milestones_url mirror_url name node_id " +
		"notifications_url open_issues open_issues_count owner private pulls_url pushed_at releases_url size ssh_url stargazers " +
		"stargazers_count stargazers_url statuses_url subscribers_url subscription_url svn_url tags_url teams_url trees_url " +
		"updated_at url watchers watchers_count",
	"pusher": "email name",
	"repository": "archive_url archived assignees_url blobs_url branches_url clone_url collaborators_url comments_url commits_url " +
		"compare_url contents_url contributors_url created_at custom_properties default_branch deployments_url description " +
		"disabled downloads_url events_url fork forks forks_count forks_url full_name git_commits_url git_refs_url git_tags_url " +
		"git_url has_downloads has_issues has_pages has_projects has_wiki homepage hooks_url html_url id is_template " +
		"issue_comment_url issue_events_url issues_url keys_url labels_url language languages_url license merges_url " +
		"milestones_url mirror_url name node_id notifications_url open_issues open_issues_count owner private pulls_url pushed_at " +
		"releases_url size ssh_url stargazers_count stargazers_url statuses_url subscribers_url subscription_url svn_url tags_url " +
		"teams_url topics trees_url updated_at url visibility watchers watchers_count web_commit_signoff_required",
	"review": "_links author_association body commit_id html_url id node_id pull_request_url state submitted_at user",
	"user": "avatar_url events_url followers_url following_url gists_url gravatar_id html_url id login node_id organizations_url " +
		"received_events_url repos_url site_admin starred_url subscriptions_url type url",
	"workflow": "badge_url created_at html_url id name node_id path state updated_at url",
	"workflow_run": "actor artifacts_url cancel_url check_suite_id check_suite_node_id check_suite_url conclusion created_at display_title " +
		"event head_branch head_commit head_repository head_sha html_url id jobs_url logs_url name node_id path " +
		"previous_attempt_url pull_requests repository rerun_url run_attempt run_number run_started_at status triggering_actor " +
		"updated_at url workflow_id workflow_url",
}
