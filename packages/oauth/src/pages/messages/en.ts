/** English texts of the default pages. Every language has the same ids. */
export const en = {
  'approve.title': 'Approve access',
  'approve.heading': '{application} asks for access to your account',
  'approve.button': 'Approve',
  'approve.deny': 'Deny',
  'approve.otherAccount': 'Not you? {link}',
  'approve.otherAccount.link': 'Sign in with another account',
  'approve.own': 'You registered this application yourself.',
  'approve.byOperator': 'The operator of this server registered this application.',
  'approve.verified.self':
    'This application registered itself. The operator of this server has verified it.',
  'approve.verified.self.from':
    'This application from {host} registered itself. The operator of this server has verified it.',
  'approve.verified.user':
    'Another user registered this application. The operator of this server has verified it.',
  'approve.unverified.self':
    'This application is {unverified}: the operator of this server has not checked it. It registered itself, and it may not be what its name says.',
  'approve.unverified.self.from':
    'This application from {host} is {unverified}: the operator of this server has not checked it. It registered itself, and it may not be what its name says.',
  'approve.unverified.user':
    'This application is {unverified}: the operator of this server has not checked it. Another user registered it, and it may not be what its name says.',
  'approve.unverified.word': 'unverified',
  'approve.resources': 'The access applies to {resources}.',
  'approve.nothingElse': 'The application asks for no further permissions.',
  'approve.willBeAble': 'The application will be able to:',
  'approve.choose': 'Choose what the application will be able to do:',
  'approve.optional': 'You can also allow the application to:',
  'approve.read': 'Read its {documents}.',
  'approve.privacyPolicy': '{link} at {host}',
  'approve.privacyPolicy.link': 'privacy policy',
  'approve.terms': '{link} at {host}',
  'approve.terms.link': 'terms of service',
  'approve.ownComputer':
    'The response goes to a program on {place}. Any program there could claim to be this application. Approve only if you have just started it yourself.',
  'approve.ownComputer.place': 'your own computer',
  'approve.program':
    'The response opens the program on your device that handles {scheme} links. Any program can register for these links. Approve only if you have just started it yourself.',
  'approve.destination': 'Whether you approve or deny, you will be sent to {destination}.',
  'list.and': '{list} and {last}',

  'device.enter.title': 'Connect a device',
  'device.enter.text': 'Enter the code that your device shows.',
  'device.enter.label': 'Code',
  'device.enter.button': 'Continue',
  'device.enter.unknown':
    'This code is unknown, has been used, or has expired. Check the code on your device.',
  'device.enter.otherProvider':
    'This code is for an application that this account cannot use. Sign in with the account that you use for it, and try again.',
  'device.enter.tooMany':
    'You have tried too many codes. Wait {minutes, plural, one {# minute} other {# minutes}}, then start again.',
  'device.confirm.title': 'Approve a device',
  'device.confirm.heading': '{application} on a device asks for access to your account',
  'device.confirm.code': 'Your device shows this code:',
  'device.confirm.warning':
    'Approve only if you started this yourself, on your own device. If someone sent you this code or a link to this page, deny the request: approving it would give them access to your account.',
  'device.done.title': 'Your answer has been saved',
  'device.approved.heading': 'You approved {application}',
  'device.approved.text':
    'Return to your device, which continues by itself. You can close this page.',
  'device.denied.heading': 'You denied access to {application}',
  'device.denied.text': 'The device gets no access. You can close this page.',

  'signOut.title': 'Sign out?',
  'signOut.byApplication':
    '{application} asks to sign you out here and in all applications where you signed in with this account.',
  'signOut.text':
    'You will be signed out here and in all applications where you signed in with this account.',
  'signOut.destination': 'Afterwards, you will be sent to {destination}.',
  'signOut.stayHere': '{problem} You will stay on this site.',
  'signOut.unregistered':
    'The application asks to send you to an address that it has not registered.',
  'signOut.unproven':
    'The application asks to send you to an address, but does not prove its identity.',
  'signOut.button': 'Sign out',
  'signOut.stay': 'Stay signed in',
  'signedOut.title': 'Signed out',
  'signedOut.heading': 'You are signed out',
  'signedOut.text': 'You can close this page.',
  'stillSignedIn.title': 'Still signed in',
  'stillSignedIn.heading': 'You are still signed in',
  'stillSignedIn.text': 'Nothing has changed. You can close this page.',

  'error.title': 'Request refused',
  'error.heading': 'This request cannot be completed',
  'error.forDevelopers':
    'This request is invalid. If an application sent you here, show its operator this message:',
  'error.again': 'Try again',
  'error.signedOut': 'You are no longer signed in.',
  'error.foreignForm': 'This form is out of date or was sent from another site.',
  'error.expired':
    'This page was open for too long, or you have signed in again since it was shown.',
  'error.expired.hint': 'Nothing has been approved or denied.',
  'error.answered': 'This request has already been answered, or has expired.',
  'error.answered.hint': 'Return to the application and start again.',
  'error.applicationGone': 'This application no longer exists, or its address has changed.',
  'error.applicationGone.hint': 'Return to the application and start again.',
  'error.tooMany': 'Too many requests. Wait a few minutes, then try again.',
  'error.unavailable': 'The service is temporarily unavailable. Try again in a moment.',
  'error.failed': 'The server could not complete the request.',

  'formPost.title': 'Return to the application',
  'formPost.text':
    'Your browser does not run scripts. Press the button to return to the application.',
  'formPost.button': 'Continue',

  'scope.openid': 'Know who you are',
  'scope.profile': 'See your name and profile',
  'scope.email': 'See your email address',
  'scope.address': 'See your postal address',
  'scope.phone': 'See your phone number',
  'scope.groups': 'See which groups you belong to',
  'scope.offline_access': 'Keep access while you are not using the application',
} as const

/** All texts of the default pages in one language, by id. */
export type DefaultMessages = Readonly<Record<keyof typeof en, string>>
