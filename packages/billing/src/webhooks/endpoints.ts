import type { BillingContext } from '../context.ts'
import { InvalidArgument, Unsupported } from '../errors.ts'
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
  /** What only a person can look at; null where all was looked at. */
  readonly note: string | null
}

/** How an address is registered. */
export interface NewEndpointOptions {
  /** Where. Default: the first provider that lets a program do it. */
  readonly provider?: ProviderName
  /** Another address than `baseUrl` and the path of the provider. */
  readonly url?: string
  /** Removes what is registered for the same address, once the new one is there. Default false. */
  readonly replace?: boolean
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
  const url = urlOf(context, provider)
  const nothing = { provider: provider.name, url, id: null, missing: [], superfluous: [] }
  if (!provider.can.includes('webhookEndpoints')) {
    const note = `${provider.name} does not tell a program what is registered: look in its control panel for ${url}, with ${provider.events.join(', ')}.`
    return { ...nothing, problems: [], note }
  }
  const all = await listFor(context, provider.name, url)
  const found = all.find(({ isEnabled }) => isEnabled) ?? all[0]
  if (found) return describe(provider, found)
  const problem = `${provider.name} sends nothing to ${url}: create an endpoint.`
  return { ...nothing, missing: provider.events, problems: [problem], note: noteOf(provider, url) }
}

/** What no program looks at. */
function noteOf({ name, usageEvents }: Provider, url: string): string | null {
  if (!usageEvents) return null
  return `For usage, ${name} needs an event destination with thin payloads to ${url} as well, with ${usageEvents.join(', ')}: look in its control panel.`
}

function describe(described: Provider, found: ProviderEndpoint): EndpointReport {
  const { name: provider, events } = described
  const { id, url } = found
  const sendsAll = found.events.includes('*')
  const missing = sendsAll ? [] : events.filter((event) => !found.events.includes(event))
  const superfluous = found.events.filter((event) => event !== '*' && !events.includes(event))
  const problems = [
    ...(found.isEnabled ? [] : [`${provider}'s endpoint ${id} is switched off.`]),
    ...(missing.length > 0
      ? [`${provider}'s endpoint ${id} does not send ${missing.join(', ')}.`]
      : []),
    ...(found.hasOtherVersion
      ? [
          `${provider}'s endpoint ${id} sends events of version ${found.apiVersion}, which is not that of the SDK.`,
        ]
      : []),
  ]
  const note = noteOf(described, url)
  return { provider, url, id, missing, superfluous, problems, note }
}

async function create(
  context: BillingContext,
  { provider: name, url: given, replace = false }: NewEndpointOptions,
): Promise<NewEndpoint> {
  const provider = requireProvider(context, name)
  const url = given === undefined ? urlOf(context, provider) : requireUrl(given)
  const before = await listFor(context, provider.name, url)
  const [there] = before
  if (there && !replace) {
    throw new InvalidArgument(
      `There is an endpoint for ${url} already (${there.id}), whose secret is told once: remove it at the provider, or replace it`,
    )
  }
  const endpoints = requirePart(await context.gateway(provider.name), 'webhookEndpoints')
  const made = await endpoints.create({ url, events: provider.events })
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

async function listFor(
  context: BillingContext,
  provider: ProviderName,
  url: string,
): Promise<ProviderEndpoint[]> {
  const endpoints = requirePart(await context.gateway(provider), 'webhookEndpoints')
  return (await endpoints.list()).filter((endpoint) => endpoint.url === url)
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
