import type { BillingContext } from '../context.ts'
import { InvalidArgument, ProviderMisconfigured, Unsupported } from '../errors.ts'
import type { ProviderEndpoint } from '../gateways/contract/parts/webhook-endpoints.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { Provider } from '../gateways/contract/provider.ts'
import { ownUrl } from '../pages/own-url.ts'
import type { ProviderName } from '../provider-name.ts'

/** How the address for a provider's events is registered there. */
export interface EndpointReport {
  /** Who sends. */
  readonly provider: ProviderName
  /** Where events should go. */
  readonly url: string
  /** The provider's id of what is registered; null for nothing, or where the provider does not tell. */
  readonly id: string | null
  /** Events that billing needs and that are not sent. */
  readonly missing: readonly string[]
  /** Events that are sent, and nobody handles. They are kept and change nothing. */
  readonly superfluous: readonly string[]
  /** What is wrong, in words; empty when all is well, or where the provider does not tell. */
  readonly problems: readonly string[]
  /** The address for events that tell of dropped usage; null where the provider has no such events, or does not let us look. */
  readonly usage: UsageEndpointReport | null
  /** What only a person can look at or decide; null for nothing. */
  readonly note: string | null
}

/** How the address for events about usage is registered. What is wrong with it is among the problems. */
export interface UsageEndpointReport {
  /** The provider's id; null for nothing, which is well as long as nothing is billed by usage. */
  readonly id: string | null
  /** Events that are not sent. */
  readonly missing: readonly string[]
}

/** How an address is registered. */
export interface NewEndpointOptions {
  /** Where. Default: the first provider that lets a program do it. */
  readonly provider?: ProviderName
  /** Another address than `baseUrl` and the path of the provider. */
  readonly url?: string
  /** Removes what is registered for the same address, once the new one is there. Default false. */
  readonly replace?: boolean
  /** For events that tell of dropped usage, in place of all others: they have an address and a secret of their own. Default false. */
  readonly usage?: boolean
}

/** What was registered. The secret is told this once: it is the provider's `webhookSecret`. */
export interface NewEndpoint {
  /** The provider's id. */
  readonly id: string
  /** Who sends. */
  readonly provider: ProviderName
  /** Where events go. */
  readonly url: string
  /** What they are signed with. */
  readonly secret: string
}

/** The addresses that providers send events to. */
export interface Endpoints {
  /** What is registered, and what is missing. Nothing is changed. */
  check(): Promise<EndpointReport[]>
  /**
   * Registers the address with the events that billing needs. InvalidArgument where there is one for it already, unless
   * it is to be replaced; Unsupported where a person has to do it.
   */
  create(options?: NewEndpointOptions): Promise<NewEndpoint>
}

export function createEndpoints(context: BillingContext): Endpoints {
  const { providers } = context.options
  return {
    check: () => Promise.all(providers.all.map((provider) => checkProvider(context, provider))),
    create: (options = {}) => create(context, options),
  }
}

async function checkProvider(context: BillingContext, provider: Provider): Promise<EndpointReport> {
  const { name } = provider
  const url = urlOf(context, provider)
  const nothing = { provider: name, url, id: null, missing: [], superfluous: [], usage: null }
  if (!provider.can.includes('webhookEndpoints')) {
    const note = `${name} does not tell a program what is registered: look in its control panel for ${url}, with ${provider.events.join(', ')}.`
    return { ...nothing, problems: [], note }
  }
  const { found: all, unlisted } = await listFor(context, name, url)
  const found = firstOf(all.filter(({ payload }) => payload === 'whole'))
  const usage =
    unlisted === null
      ? describeUsage(provider, all, url)
      : { report: null, problems: [], note: unlisted }
  const events = found
    ? describe(provider, found)
    : {
        ...nothing,
        missing: provider.events,
        problems: [`${name} sends nothing to ${url}: create an endpoint.`],
      }
  const problems = [...events.problems, ...usage.problems]
  return { ...events, problems, usage: usage.report, note: usage.note }
}

function firstOf(able: readonly ProviderEndpoint[]): ProviderEndpoint | undefined {
  return able.find(({ isEnabled }) => isEnabled) ?? able[0]
}

/** Thin ones for other events are not ours. */
function forUsage(all: readonly ProviderEndpoint[], events: readonly string[]): ProviderEndpoint[] {
  return all.filter(
    (each) =>
      each.payload === 'thin' && each.events.some((event) => [...events, '*'].includes(event)),
  )
}

/** That it is not there is no problem: who does not bill by usage needs none. */
function describeUsage(
  { name, usageEvents }: Provider,
  all: readonly ProviderEndpoint[],
  url: string,
): { report: UsageEndpointReport | null; problems: string[]; note: string | null } {
  if (!usageEvents) return { report: null, problems: [], note: null }
  const able = forUsage(all, usageEvents)
  const first = firstOf(able)
  if (!first) {
    const note = `Who bills by usage needs another address of ${name} for ${usageEvents.join(', ')} to ${url}: create one for usage.`
    return { report: { id: null, missing: usageEvents }, problems: [], note }
  }
  // Several that are enabled may share the events.
  const sending = able.filter(({ isEnabled }) => isEnabled)
  const events = sending.length > 0 ? sending.flatMap((each) => each.events) : first.events
  const found = { ...first, events }
  const missing = missingIn(found, usageEvents)
  const report = { id: found.id, missing }
  return { report, problems: problemsOf(name, found, missing), note: null }
}

function missingIn(found: ProviderEndpoint, events: readonly string[]): string[] {
  if (found.events.includes('*')) return []
  return events.filter((event) => !found.events.includes(event))
}

function problemsOf(
  provider: ProviderName,
  found: ProviderEndpoint,
  missing: readonly string[],
): string[] {
  const called = `${provider}'s endpoint ${found.id}`
  return [
    ...(found.isEnabled ? [] : [`${called} is switched off.`]),
    ...(missing.length > 0 ? [`${called} does not send ${missing.join(', ')}.`] : []),
    ...(found.hasOtherVersion
      ? [`${called} sends events of version ${found.apiVersion}, which is not that of the SDK.`]
      : []),
  ]
}

function describe(
  { name: provider, events }: Provider,
  found: ProviderEndpoint,
): Omit<EndpointReport, 'usage' | 'note'> {
  const { id, url } = found
  const missing = missingIn(found, events)
  const superfluous = found.events.filter((event) => event !== '*' && !events.includes(event))
  const problems = problemsOf(provider, found, missing)
  return { provider, url, id, missing, superfluous, problems }
}

async function create(
  context: BillingContext,
  { provider: name, url: given, replace = false, usage = false }: NewEndpointOptions,
): Promise<NewEndpoint> {
  const provider = requireProvider(context, name)
  const payload = usage ? 'thin' : 'whole'
  const events = usage ? requireUsageEvents(provider) : provider.events
  const url = given === undefined ? urlOf(context, provider) : requireUrl(given)
  const { found, unlisted } = await listFor(context, provider.name, url)
  if (usage && unlisted !== null) {
    throw new ProviderMisconfigured(unlisted, { provider: provider.name, providerCode: null })
  }
  const before = usage ? forUsage(found, events) : found.filter((each) => each.payload === 'whole')
  const [there] = before
  if (there && !replace) {
    throw new InvalidArgument(
      `There is an endpoint for ${url} already (${there.id}), whose secret is told once: remove it at the provider, or replace it (replace: true, --replace)`,
    )
  }
  const endpoints = requirePart(await context.gateway(provider.name), 'webhookEndpoints')
  const made = await endpoints.create({ url, events, payload })
  // Only now: in between both send, and an event is kept once.
  for (const { id } of before) await endpoints.remove(id)
  return { ...made, provider: provider.name, url }
}

function requireProvider({ options }: BillingContext, name: ProviderName | undefined): Provider {
  const { providers, defaultProvider } = options
  const able = providers.all.filter(({ can }) => can.includes('webhookEndpoints'))
  const found = name === undefined ? able[0] : able.find((each) => each.name === name)
  if (found) return found
  const provider = name ?? defaultProvider
  throw new Unsupported(
    `${provider} lets no program register an address: do it in its control panel, under Webhooks`,
    { provider, capability: 'webhookEndpoints' },
  )
}

function requireUsageEvents({ name: provider, usageEvents }: Provider): readonly string[] {
  if (usageEvents) return usageEvents
  throw new Unsupported(`${provider} sends no events about usage that it drops`, {
    provider,
    capability: 'webhookEndpoints',
  })
}

async function listFor(
  context: BillingContext,
  provider: ProviderName,
  url: string,
): Promise<{ readonly found: ProviderEndpoint[]; readonly unlisted: string | null }> {
  const endpoints = requirePart(await context.gateway(provider), 'webhookEndpoints')
  const unlisted: string[] = []
  const all = await endpoints.list((why) => unlisted.push(why))
  return { found: all.filter((endpoint) => endpoint.url === url), unlisted: unlisted[0] ?? null }
}

function urlOf(context: BillingContext, { name }: Provider): string {
  const { webhooks } = context.options.paths
  const path = [...webhooks].find(([, provider]) => provider === name)?.[0]
  return ownUrl(context, 'webhook path', path)
}

function requireUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).href
  throw new InvalidArgument(`'${url}' should look like 'https://app.example.com/webhook'`)
}
