import { isDeepStrictEqual } from 'node:util'
import { OPTIONS_UNDER_FAPI2 } from './fapi2.ts'
import { FREE_PLAN, type GatePlan, hasLimits, listGatePlans } from './gate-plans.ts'
import type { Mode } from './row.ts'
import type { Settings } from './settings.ts'
import { settingRows } from './settings.ts'
import { looksUpAccounts } from './shapes.ts'
import type { Variables } from './variables.ts'

/** A rule about several settings: returns one sentence with the fix for each violation. */
type Rule = (settings: Settings) => readonly (string | false | undefined)[]

/** The place of a plan in the settings. */
const describeGatePlan = ({ id, offers }: GatePlan) =>
  offers.length === 0 ? 'freePlan' : `plans.${id}`

const FEATURES_SCOPES = ['openid', 'offline_access']

const RULES: readonly Rule[] = [
  ({ responseTypes, implicitGrant }) =>
    implicitGrant
      ? []
      : responseTypes
          .filter((type) => type.split(' ').includes('token'))
          .map(
            (type) =>
              `responseTypes has '${type}', which needs implicitGrant: switch it on, or remove the type.`,
          ),
  ({ identityAssertions, openid, exchangeGrant }) => [
    identityAssertions !== null &&
      !openid &&
      'identityAssertions needs openid: switch it on, or remove identityAssertions.',
    identityAssertions !== null &&
      !exchangeGrant &&
      'identityAssertions needs exchangeGrant: switch it on, or remove identityAssertions.',
  ],
  ({ scopes, plans, freePlan, ...settings }) => {
    const { optionalScopes, defaultScopes, selfRegistered, openid, identityScopes } = settings
    const ofFeatures = openid ? [...FEATURES_SCOPES, ...identityScopes] : []
    const undefinedIn = (name: string, listed: readonly string[], known: readonly string[]) =>
      listed
        .filter((scope) => !(scope in scopes) && !known.includes(scope))
        .map(
          (scope) =>
            `${name} has '${scope}', which is not defined: add it to scopes, or remove it.`,
        )
    return [
      ...undefinedIn('optionalScopes', optionalScopes, ofFeatures),
      ...undefinedIn('defaultScopes', defaultScopes, ofFeatures),
      ...undefinedIn('selfRegistered.scopes', selfRegistered?.scopes ?? [], ofFeatures),
      ...listGatePlans({ plans, freePlan }).flatMap((plan) =>
        undefinedIn(`${describeGatePlan(plan)}.scopes`, plan.scopes ?? [], []),
      ),
    ]
  },
  ({ plans, freePlan, meters }) => {
    const limited = plans.find(hasLimits)
    return [
      limited !== undefined &&
        freePlan === null &&
        `plans.${limited.plan} has limits, but nothing says what people without a subscription may do: add freePlan, such as { scopes: [] }.`,
      freePlan !== null &&
        plans.some(({ plan }) => plan === FREE_PLAN) &&
        `plans has the id '${FREE_PLAN}', which is that of freePlan: use another id.`,
      ...listGatePlans({ plans, freePlan }).flatMap((plan) =>
        Object.keys(plan.quota ?? {})
          .filter((meter) => !Object.hasOwn(meters, meter))
          .map(
            (meter) =>
              `${describeGatePlan(plan)}.quota has '${meter}', which is not in meters: add it there, or remove it.`,
          ),
      ),
    ]
  },
  ({ selfRegistered, resources, mcpServers }) =>
    (selfRegistered?.resources ?? [])
      .filter((url) => URL.canParse(url) && !(url in { ...resources, ...mcpServers }))
      .map(
        (url) =>
          `selfRegistered.resources has ${url}, which is in neither resources nor mcpServers: add it there, or remove it.`,
      ),
  ({ resources, mcpServers }) =>
    Object.keys(resources ?? {})
      .filter((url) => url in (mcpServers ?? {}))
      .map((url) => `${url} is in resources and in mcpServers: remove it from one of them.`),
  ({ requestObjects, unsignedRequestObjects }) => [
    requestObjects === 'required' &&
      unsignedRequestObjects === true &&
      "requestObjects is 'required', but unsignedRequestObjects is on: switch it off, or set requestObjects to true.",
  ],
  ({ clientAssertions, clientAssertionsRequired }) => [
    clientAssertionsRequired &&
      clientAssertions === false &&
      'clientAssertionsRequired needs clientAssertions: switch it on, or no client can authenticate.',
  ],
  ({ tax, taxPercentage }) => [
    tax !== null &&
      tax !== 'percentage' &&
      taxPercentage !== null &&
      'tax and taxPercentage both determine the tax: remove one of them.',
  ],
  ({ teams, tax, taxPercentage }) => [
    teams === true &&
      taxPercentage !== null &&
      'teams needs a tax of its own, because taxPercentage is a function of a user: set teams to { taxPercentage: (team) => … }.',
    teams !== false &&
      typeof tax === 'object' &&
      tax !== null &&
      "teams cannot be taxed by tax.rates, which is a function of a user: set tax to 'automatic', or switch teams off.",
    typeof teams === 'object' &&
      teams.taxPercentage !== undefined &&
      tax === 'automatic' &&
      'tax and teams.taxPercentage both determine the tax: remove one of them.',
  ],
  // Anyone could register with another person's address first, and would receive that person's
  // tokens.
  ({ trustedIssuers, registration }) =>
    registration === 'open'
      ? trustedIssuers
          .filter(looksUpAccounts)
          .map(
            ({ issuer }) =>
              `trustedIssuers: emailDomains of ${issuer} needs registration: 'closed' or 'invitation', because anyone could register with the address of somebody else.`,
          )
      : [],
]

/** Lists the settings that contradict each other or lack a companion, one sentence each. */
export function findContradictions(settings: Settings): string[] {
  return RULES.flatMap((rule) => rule(settings).filter((each) => typeof each === 'string'))
}

/** Lists contradictions between the mail server of the environment and the setting `mail`. */
export function findMailContradictions(
  { TOLLGATE_SMTP_URL: server, TOLLGATE_SMTP_TLS: tls }: Variables,
  { mail }: Settings,
  mode: Mode,
): string[] {
  const rules = [
    server !== null &&
      mail?.send !== undefined &&
      'mail.send and TOLLGATE_SMTP_URL both send mail: remove one of them.',
    server === null &&
      mode === 'production' &&
      mail !== null &&
      mail.send === undefined &&
      'mail needs a mail server: set TOLLGATE_SMTP_URL, or add send, a function that sends one mail.',
    server?.isImplicitTls === true &&
      tls === 'off' &&
      'TOLLGATE_SMTP_TLS is off, but TOLLGATE_SMTP_URL begins with smtps: remove one of them, or use smtp:.',
  ]
  return rules.filter((each) => typeof each === 'string')
}

/**
 * Lists the settings that have no effect, because the setting that switches their feature on is
 * off, or because `fapi2` decides for them. `isOff` tells whether a feature is off that no single
 * setting switches.
 */
export function findIneffective(
  settings: Settings,
  isOff: (feature: string) => boolean | undefined,
): string[] {
  return [...settingRows].flatMap(([name, { option, file }]) => {
    const [feature = '', member = '', ...deeper] = option?.split('.') ?? []
    const isDefault = isDeepStrictEqual(settings[name as keyof Settings], file.parse(undefined))
    if (isDefault || deeper.length > 0) return []
    const switches = [...settingRows].find(([, { decides }]) => decides?.includes(feature))?.[0]
    if (switches === undefined || switches === name) return []
    if (isOff(feature) ?? isEmpty(settings[switches as keyof Settings])) {
      return [`${name} has no effect while ${switches} is off.`]
    }
    const left = OPTIONS_UNDER_FAPI2[feature as keyof typeof OPTIONS_UNDER_FAPI2]
    if (!settings.fapi2 || left === undefined || left.some((each) => each === member)) return []
    return [`${name} has no effect, because fapi2 decides it.`]
  })
}

const isEmpty = (value: unknown) =>
  value === false || value === null || (Array.isArray(value) && value.length === 0)
