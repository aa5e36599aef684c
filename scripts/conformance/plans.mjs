// The plans to run, and the scripts by which the suite's browser uses our pages.

const discovery = { server_metadata: 'discovery' }
const dynamic = { client_registration: 'dynamic_client' }
const fixed = { client_registration: 'static_client' }
const code = { response_type: 'code' }

const fapi2 = {
  name: 'fapi2-security-profile-final-test-plan',
  profile: 'fapi2',
  variant: {
    client_auth_type: 'private_key_jwt',
    sender_constrain: 'dpop',
    authorization_request_type: 'simple',
  },
}

/** The plans in the order of the report. Those with a `profile` need a server configured for it. */
export const plans = [
  { name: 'oidcc-config-certification-test-plan', variant: {} },
  { name: 'oidcc-basic-certification-test-plan', variant: { ...discovery, ...fixed } },
  { name: 'oidcc-basic-certification-test-plan', variant: { ...discovery, ...dynamic } },
  { name: 'oidcc-formpost-basic-certification-test-plan', variant: { ...discovery, ...fixed } },
  { name: 'oidcc-formpost-basic-certification-test-plan', variant: { ...discovery, ...dynamic } },
  { name: 'oidcc-rp-initiated-logout-certification-test-plan', variant: { ...code, ...fixed } },
  { name: 'oidcc-rp-initiated-logout-certification-test-plan', variant: { ...code, ...dynamic } },
  {
    name: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
    variant: { ...code, ...fixed },
  },
  {
    name: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
    variant: { ...code, ...dynamic },
  },
  { name: 'oidcc-dynamic-certification-test-plan', variant: { ...code } },
  { name: 'oidcc-implicit-certification-test-plan', variant: { ...discovery, ...fixed } },
  { ...fapi2, variant: { ...fapi2.variant, fapi_profile: 'plain_fapi', openid: 'plain_oauth' } },
  { ...fapi2, variant: { ...fapi2.variant, fapi_profile: 'plain_fapi', openid: 'openid_connect' } },
  {
    ...fapi2,
    variant: {
      ...fapi2.variant,
      fapi_profile: 'fapi_client_credentials_grant',
      openid: 'plain_oauth',
    },
  },
]

/** Our part of the suite's URLs. */
export const ALIAS = 'tollgate'

/**
 * Builds the suite's configuration for a server. `pages` says how its pages are recognized and
 * used.
 */
export function configurationFor({ issuer, suite, server, clients, plan }) {
  const { person, pages } = server
  const issuerPages = `${issuer}/*`
  const callback = { match: `${suite}/test/*/callback*`, commands: [waitForId()] }
  const signIn = (first = []) => ({
    task: 'sign in',
    match: `${issuer}${pages.signIn}*`,
    optional: true,
    commands: [
      ...first,
      ['text', 'css', pages.userField, person.user, 'optional'],
      ['text', 'css', pages.passwordField, person.password, 'optional'],
      ['click', 'css', pages.signInButton],
    ],
  })
  const approve = {
    task: 'approve',
    match: `${issuer}${pages.authorize}*`,
    optional: true,
    commands: [['click', 'css', pages.approveButton, 'optional']],
  }
  const lookAtSignIn = {
    task: 'look at the sign-in page',
    match: `${issuer}${pages.signIn}*`,
    commands: [['wait', 'xpath', '//*', 10, pages.signInText]],
  }
  const deny = {
    task: 'deny',
    match: `${issuer}${pages.authorize}*`,
    optional: true,
    commands: [['click', 'css', pages.denyButton]],
  }
  const authorize = (...tasks) => ({ match: `${issuer}${pages.authorize}*`, tasks })
  const flow = authorize(signIn(), approve, { task: 'back at the client', ...callback })
  const flowShowing = (text) =>
    authorize(signIn([seen(text, true)]), approve, { task: 'back at the client', ...callback })
  /** Page script for a flow that ends on one of our pages, which a person would check. */
  const endsShowing = (text, ...before) =>
    authorize(...before, { task: 'the page', match: issuerPages, commands: [seen(text)] })

  const logout = (...tasks) => ({ match: `${issuer}${pages.endSession}*`, tasks })
  const confirm = {
    task: 'confirm the sign-out',
    match: `${issuer}${pages.endSession}*`,
    optional: true,
    commands: [['click', 'css', pages.signOutButton, 'optional']],
  }
  const afterLogout = { task: 'back at the client', match: `${suite}/test/*/post*` }
  const logoutShowing = (text, ...before) =>
    logout(...before, { task: 'the page', match: issuerPages, commands: [seen(text)] })

  const each = (names, ...browser) => Object.fromEntries(names.map((name) => [name, { browser }]))
  const logoutModule = (name) => `oidcc-rp-initiated-logout${name}`
  return {
    alias: ALIAS,
    description: 'Tollgate',
    server: {
      discoveryUrl: `${issuer}/.well-known/${plan.variant.openid === 'plain_oauth' ? 'oauth-authorization-server' : 'openid-configuration'}`,
      login_hint: person.user,
    },
    ...clients,
    ...(plan.profile === 'fapi2' && {
      resource: { resourceUrl: resourceOf(plan, server, issuer) },
    }),
    browser: [flow, logout(confirm, afterLogout)],
    override: {
      ...each(['oidcc-prompt-login', 'oidcc-max-age-1'], flowShowing(pages.signInText)),
      ...each(
        [
          'oidcc-ensure-registered-redirect-uri',
          'oidcc-ensure-redirect-uri-in-authorization-request',
          'oidcc-redirect-uri-query-added',
          'oidcc-redirect-uri-query-mismatch',
        ],
        endsShowing(pages.refusedText),
      ),
      ...each(
        ['fapi2-security-profile-final-user-rejects-authentication'],
        authorize(signIn(), deny, { task: 'back at the client', ...callback }),
      ),
      ...each(
        [
          'fapi2-security-profile-final-par-attempt-to-use-expired-request_uri',
          'fapi2-security-profile-final-par-attempt-to-use-request_uri-for-different-client',
        ],
        endsShowing(pages.refusedText),
      ),
      ...each(
        ['fapi2-security-profile-final-par-attempt-reuse-request_uri'],
        { ...flow, 'match-limit': 1 },
        endsShowing(pages.refusedText),
      ),
      ...each(
        [
          'fapi2-security-profile-final-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds',
        ],
        { ...authorize(lookAtSignIn), 'match-limit': 1 },
        flowShowing(pages.signInText),
      ),
      ...each(['oidcc-registration-logo-uri'], endsShowing(pages.logoText, signIn())),
      ...each(['oidcc-registration-policy-uri'], endsShowing(pages.policyText, signIn())),
      ...each(['oidcc-registration-tos-uri'], endsShowing(pages.termsText, signIn())),
      ...each(
        [
          '-bad-post-logout-redirect-uri',
          '-query-added-to-post-logout-redirect-uri',
          '-modified-id-token-hint',
          '-bad-id-token-hint',
          '-no-id-token-hint',
        ].map(logoutModule),
        flow,
        logoutShowing(pages.signOutProblem),
      ),
      ...each(
        ['-no-params', '-no-post-logout-redirect-uri', '-only-state'].map(logoutModule),
        flow,
        logoutShowing(pages.signedOutText, confirm),
      ),
    },
  }
}

/**
 * Returns an API that accepts the tokens of the plan: of a user, or of a client that acts for
 * itself.
 */
function resourceOf({ variant }, { pages }, issuer) {
  if (variant.fapi_profile === 'fapi_client_credentials_grant') return `${issuer}${pages.clientApi}`
  return `${issuer}${pages.api}`
}

function waitForId() {
  return ['wait', 'id', 'submission_complete', 10]
}

/** Uploads the page as a screenshot for a reviewer, if the module has a placeholder for it. */
function seen(text, optional = false) {
  const keep = `update-image-placeholder${optional ? '-optional' : ''}`
  return ['wait', 'xpath', '//*', 10, text, keep]
}
