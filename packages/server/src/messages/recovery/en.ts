/** The texts of mail about accounts, and of the pages that its links open, in English. */
export const recoveryEn = {
  'mail.hello': 'Hello,',
  'mail.greeting': 'Hello {name},',
  'mail.closing': 'Kind regards',
  'mail.lasts.minutes':
    'The link works once, for {count, plural, one {# minute} other {# minutes}}.',
  'mail.lasts.hours': 'The link works once, for {count, plural, one {# hour} other {# hours}}.',
  'mail.lasts.days': 'The link works once, for {count, plural, one {# day} other {# days}}.',
  'mail.ignore': 'If this was not you, ignore this email. Nothing changes.',
  'mail.operator': 'the operator of {service}',
  'mail.choosePassword': 'Choose a new password',
  'mail.password_reset.subject': 'Reset your password for {service}',
  'mail.password_reset.text':
    'A new password was requested for the account {email}. Open the link to choose one.',
  'mail.address_verification.subject': 'Confirm your email address for {service}',
  'mail.address_verification.text': 'Please confirm that {email} is your email address.',
  'mail.address_verification.button': 'Confirm the address',
  'mail.address_change.subject': 'Confirm your new email address for {service}',
  'mail.address_change.text':
    'An account at {service} is to use {email} from now on. Please confirm that this is your email address.',
  'mail.registration.subject': 'Finish your registration at {service}',
  'mail.registration.text':
    'A registration at {service} was started with the address {email}. Open the link to choose a password and to create the account.',
  'mail.registration.button': 'Create the account',
  'mail.invitation.subject': 'Your invitation to {service}',
  'mail.invitation.text':
    'You are invited to create an account at {service} with the address {email}.',
  'mail.invitation.button': 'Accept the invitation',
  'mail.team_invitation.subject': 'Your invitation to a team at {service}',
  'mail.team_invitation.text':
    '{inviter} invites you to join a team at {service}. You can accept with the account of the address {email}. If you have none yet, create it after opening the link.',
  'mail.team_invitation.ignore':
    'If you do not know this person, ignore this email. You join only if you accept.',
  'mail.already_registered.subject': 'You already have an account at {service}',
  'mail.already_registered.text':
    'The address {email} was entered at {service} for a new account or as a new address. It already belongs to your account: sign in, or choose a new password if you have forgotten it.',
  'mail.already_registered.button': 'Sign in',
  'mail.password_changed.subject': 'Your password for {service} was changed',
  'mail.password_changed.text':
    'The password of the account {email} was changed. All devices and applications were signed out.',
  'mail.password_changed.others':
    'Beside the new password, the account can still be used with: {other}.',
  'mail.password_changed.notYou':
    'If this was not you, choose a new password now. That ends every session and every access of applications again.',
  'mail.address_change_requested.subject': 'Your email address for {service} is to be changed',
  'mail.address_change_requested.text':
    'The account {email} is to use the address {other} from now on. This takes effect when the new address is confirmed.',
  'mail.address_change_requested.notYou':
    'If this was not you, choose a new password now. That ends every session, and the address stays as it is.',
  'mail.address_changed.subject': 'Your email address for {service} was changed',
  'mail.address_changed.text':
    'The account {email} uses the address {other} from now on. This is the last email to the old address.',
  'mail.address_changed.notYou':
    'If this was not you, contact {contact} immediately: this address can no longer be used to sign in.',
  'mail.address_confirmed.subject': 'Your email address for {service} was changed',
  'mail.address_confirmed.text': 'Your account at {service} uses the address {email} from now on.',
  'mail.sign_in_method_added.subject': 'A new way to sign in to {service}',
  'mail.sign_in_method_added.text': 'The account {email} has a new way to sign in: {method}.',
  'mail.sign_in_method_removed.subject': 'A way to sign in to {service} was removed',
  'mail.sign_in_method_removed.text':
    'The account {email} can no longer be used with this way to sign in: {method}.',
  'mail.recovery_codes_created.subject': 'New recovery codes for {service}',
  'mail.recovery_codes_created.text':
    'New recovery codes were created for the account {email}. The ones from before no longer work.',
  'mail.quota_alert.subject': 'You have used {percent} % of your quota: {name}',
  'mail.quota_alert.text':
    'You have used {percent} % of a quota of your plan at {service}: {name}.',
  'mail.quota_alert.usedUp': 'A quota of your plan at {service} is used up: {name}.',
  'mail.quota_alert.button': 'See the quotas and plans',
  'mail.recovery_code_used.subject': 'A recovery code for {service} was used',
  'mail.recovery_code_used.text':
    'A recovery code was used to sign in to the account {email}, instead of its second factor.',
  'mail.recovery_code_used.left':
    '{count, plural, =0 {No recovery code is left: create new ones on your account page.} one {One recovery code is left.} other {# recovery codes are left.}}',
  'mail.notYou':
    'If this was not you, choose a new password now, and check the ways to sign in on your account page.',

  'recovery.forgot.title': 'Forgotten password',
  'recovery.forgot.lead':
    'Enter the email address of your account. You get an email with a link to choose a new password.',
  'recovery.forgot.send': 'Send email',
  'recovery.forgot.link': 'Forgot your password?',
  'recovery.sent.title': 'We have sent you an email',
  'recovery.sent.reset':
    'If there is an account with this address, an email with a link arrives within a few minutes. The link works once, for 30 minutes.',
  'recovery.sent.registration':
    'An email with a link arrives within a few minutes. Open the link to choose a password. If you already have an account, the email says so.',
  'recovery.sent.none':
    'No email? Look into the spam folder, and check the address. Each address gets only a few emails per hour.',
  'recovery.again': 'Try again',
  'recovery.unusable.title': 'This link does not work',
  'recovery.unusable.text':
    'The link was used before, has expired, or the account has changed since. Ask for a new email.',
  'recovery.unusable.register': 'Register',
  'recovery.reset.title': 'Choose a new password',
  'recovery.reset.lead':
    'For the account {email}. All devices and applications will be signed out.',
  'recovery.reset.save': 'Save password',
  'recovery.done.reset': 'Your new password is saved. Sign in with it now.',
  'recovery.done.kept':
    'Passkeys and accounts at other providers that were added before still work. Check them on your account page.',
  'recovery.done.removed':
    'Nobody had confirmed the address of this account before. So second factors and accounts at other providers that were added before have been removed.',
  'recovery.done.confirm': 'Your email address is confirmed.',
  'recovery.done.title': 'Done',
  'recovery.confirm.title': 'Confirm your email address',
  'recovery.confirm.verification': 'Is {email} your email address?',
  'recovery.confirm.change':
    'Should the account {account} use {email} from now on? If you do not know this account, close the page.',
  'recovery.confirm.button': 'Confirm the address',
  'recovery.join.title': 'Create your account',
  'recovery.join.lead': 'Your account has the email address {email}.',
  'recovery.join.button': 'Create account',
  'recovery.captcha': 'Please confirm that you are not a robot, and try again.',
  'account.emailTitle': 'Email address',
  'account.verified': 'Confirmed',
  'account.unverified': 'Not confirmed yet',
  'account.verify': 'Send email to confirm the address',
  'account.verifySent': 'We have sent you an email with a link to confirm your address.',
  'account.newEmail': 'New email address',
  'account.changeEmail': 'Change email address',
  'account.changeEmailLead':
    'Your account keeps its address until you open the link that we send to the new one.',
  'account.emailRequested':
    'We have sent an email to the new address. Open its link to confirm the change.',
} as const
