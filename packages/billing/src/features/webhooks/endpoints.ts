import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument, ProviderMisconfigured, Unsupported } from '../../core/errors/errors.ts'
import { requireApplicationUrl } from '../../core/own-url.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderEndpoint } from './endpoints-contract.ts'

/** Report on how our webhook endpoint is registered at a provider. */
export interface EndpointReport {
  /** The provider at which the endpoint is registered. */
  readonly provider: ProviderName
  /** The URL of our webhook endpoint, to which the provider should send its events. */
  readonly url: string
  /**
   * The provider's id of the registered endpoint. `null` if none is registered, or if the provider
   * does not let us list endpoints.
   */
  readonly id: string | null
  /** Types of events that billing needs, but that the provider does not send to the endpoint. */
  readonly missing: readonly string[]
  /**
   * Types of events that the provider sends, but that have no handler. They are stored and have no
   * effect.
   */
  readonly superfluous: readonly string[]
  /**
   * Descriptions of all problems with the registration. Empty if there are none, or if the provider
   * does not let us list endpoints.
   */
  readonly problems: readonly string[]
  /**
   * Report on the separate endpoint for events about rejected usage. `null` if the provider has no
   * such events, or does not let us list endpoints.
   */
  readonly usage: UsageEndpointReport | null
  /** Advice about something that the operator has to check or decide. `null` if there is none. */
  readonly note: string | null
}

/**
 * Report on how the separate endpoint for events about rejected usage is registered. Its problems
 * are listed in `EndpointReport.problems`.
 */
export interface UsageEndpointReport {
  /**
   * The provider's id of the endpoint. `null` if none is registered, which is only a problem if
   * prices are billed by usage.
   */
  readonly id: string | null
  /** Types of events about rejected usage that the provider does not send to the endpoint. */
  readonly missing: readonly string[]
}

/** Options for `billing.endpoints.create()`. */
export interface NewEndpointOptions {
  /**
   * The provider at which the endpoint is registered. Default: the first provider whose API allows
   * it.
   */
  readonly provider?: ProviderName
  /**
   * The URL to register. Default: the option `baseUrl`, followed by our webhook path for the
   * provider.
   */
  readonly url?: string
  /**
   * Whether to replace existing endpoints for the same URL: they are deleted after the new one was
   * created.
   * @default false
   */
  readonly replace?: boolean
  /**
   * Whether to register the separate endpoint for events about rejected usage, which needs its own
   * secret, instead of the main endpoint.
   * @default false
   */
  readonly usage?: boolean
}

/**
 * A newly registered webhook endpoint. Configure its secret as the provider's `webhookSecret`: it
 * is returned only once, on creation.
 */
export interface NewEndpoint {
  /** The provider's id of the endpoint. */
  readonly id: string
  /** The provider at which the endpoint is registered. */
  readonly provider: ProviderName
  /** The URL that receives the events. */
  readonly url: string
  /** The secret with which the provider signs the events. It is returned only once, on creation. */
  readonly secret: string
}

/** Checks and registers our webhook endpoints at the providers. */
export interface Endpoints {
  /**
   * Checks how our webhook endpoint is registered at each provider, and reports what is missing.
   * Changes nothing.
   * @example
   * ```ts
   * for (const { provider, problems } of await billing.endpoints.check()) console.log(provider, problems)
   * ```
   */
  check(): Promise<EndpointReport[]>
  /**
   * Registers a webhook endpoint for the events that billing needs.
   * @throws {InvalidArgument} if there is already an endpoint for this URL, unless `replace` is
   * set.
   * @throws {Unsupported} if endpoints can only be registered by hand, in the provider's control
   * panel (Braintree).
   * @example
   * ```ts
   * const { secret } = await billing.endpoints.create()
   * ```
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
    const note = `${name} has no API that lists webhook endpoints: check its control panel for ${url}, with ${provider.events.join(', ')}.`
    return { ...nothing, problems: [], note }
  }
  const { found: all, unlisted } = await listFor(context, name, url)
  const found = chooseEndpoint(all.filter(({ payload }) => payload === 'whole'))
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

function chooseEndpoint(able: readonly ProviderEndpoint[]): ProviderEndpoint | undefined {
  return able.find(({ isEnabled }) => isEnabled) ?? able[0]
}

/**
 * Selects the thin endpoints that receive any of these events. Thin endpoints for other events do
 * not belong to billing.
 */
function listUsageEndpoints(
  all: readonly ProviderEndpoint[],
  events: readonly string[],
): ProviderEndpoint[] {
  return all.filter(
    (each) =>
      each.payload === 'thin' && each.events.some((event) => [...events, '*'].includes(event)),
  )
}

/**
 * Describes the endpoint for usage. Having none is no problem, because it is needed only to bill by
 * usage.
 */
function describeUsage(
  { name, usageEvents }: Provider,
  all: readonly ProviderEndpoint[],
  url: string,
): { report: UsageEndpointReport | null; problems: string[]; note: string | null } {
  if (!usageEvents) return { report: null, problems: [], note: null }
  const able = listUsageEndpoints(all, usageEvents)
  const first = chooseEndpoint(able)
  if (!first) {
    const note = `Billing by usage needs another ${name} endpoint that sends ${usageEvents.join(', ')} to ${url}: create one for usage.`
    return { report: { id: null, missing: usageEvents }, problems: [], note }
  }
  // Several enabled endpoints may share the events.
  const sending = able.filter(({ isEnabled }) => isEnabled)
  const events = sending.length > 0 ? sending.flatMap((each) => each.events) : first.events
  const found = { ...first, events }
  const missing = listMissingEvents(found, usageEvents)
  const report = { id: found.id, missing }
  return { report, problems: describeEndpointProblems(name, found, missing), note: null }
}

function listMissingEvents(found: ProviderEndpoint, events: readonly string[]): string[] {
  if (found.events.includes('*')) return []
  return events.filter((event) => !found.events.includes(event))
}

function describeEndpointProblems(
  provider: ProviderName,
  found: ProviderEndpoint,
  missing: readonly string[],
): string[] {
  const called = `${provider}'s endpoint ${found.id}`
  return [
    ...(found.isEnabled ? [] : [`${called} is switched off.`]),
    ...(missing.length > 0 ? [`${called} does not send ${missing.join(', ')}.`] : []),
    ...(found.hasOtherVersion
      ? [
          `${called} sends events of API version ${found.apiVersion}, which is not the version of the SDK.`,
        ]
      : []),
  ]
}

function describe(
  { name: provider, events }: Provider,
  found: ProviderEndpoint,
): Omit<EndpointReport, 'usage' | 'note'> {
  const { id, url } = found
  const missing = listMissingEvents(found, events)
  const superfluous = found.events.filter((event) => event !== '*' && !events.includes(event))
  const problems = describeEndpointProblems(provider, found, missing)
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
  const before = usage
    ? listUsageEndpoints(found, events)
    : found.filter((each) => each.payload === 'whole')
  const [there] = before
  if (there && !replace) {
    throw new InvalidArgument(
      `There is an endpoint for ${url} already (${there.id}), whose secret is shown only once: remove it at the provider, or replace it (replace: true, --replace)`,
    )
  }
  const endpoints = requireGatewayPart(await context.gateway(provider.name), 'webhookEndpoints')
  const made = await endpoints.create({ url, events, payload })
  // Deleted last: in between both send, and an event that arrives twice is stored once.
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
    `${provider} has no API for registering webhook endpoints: add yours in its control panel, under Webhooks`,
    { provider, capability: 'webhookEndpoints' },
  )
}

function requireUsageEvents({ name: provider, usageEvents }: Provider): readonly string[] {
  if (usageEvents) return usageEvents
  throw new Unsupported(`${provider} sends no events about usage that it does not bill`, {
    provider,
    capability: 'webhookEndpoints',
  })
}

async function listFor(
  context: BillingContext,
  provider: ProviderName,
  url: string,
): Promise<{ readonly found: ProviderEndpoint[]; readonly unlisted: string | null }> {
  const endpoints = requireGatewayPart(await context.gateway(provider), 'webhookEndpoints')
  const unlisted: string[] = []
  const all = await endpoints.list((why) => unlisted.push(why))
  return { found: all.filter((endpoint) => endpoint.url === url), unlisted: unlisted[0] ?? null }
}

function urlOf(context: BillingContext, { name }: Provider): string {
  const { webhooks } = context.options.paths
  const path = [...webhooks].find(([, provider]) => provider === name)?.[0]
  return requireApplicationUrl(context, 'webhook path', path)
}

function requireUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).href
  throw new InvalidArgument(`'${url}' should look like 'https://app.example.com/webhook'`)
}
