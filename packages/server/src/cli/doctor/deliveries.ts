import type { Billing } from '@tollgate/billing'
import type { Config } from '../../config/config.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const CHECK = 'deliveries'

/** Where events are sent, and what did not arrive there. */
export async function checkDeliveries(billing: Billing, config: Config): Promise<Finding[]> {
  const { deliveries } = config
  const { endpoints, dead, gone } = await readDeliveries(billing)
  if (endpoints.length === 0) return []
  const sent = endpoints.map((name, at) => {
    const types = deliveries.endpoints[at]?.types
    return ok(CHECK, `${types ? types.join(', ') : 'All events'} are sent to ${name}`)
  })
  return [...sent, ...explainAddresses(config), ...findFailed(dead), ...findGone(gone)]
}

async function readDeliveries({ deliveries }: Billing) {
  const [dead, gone] = await Promise.all([deliveries.list('dead'), deliveries.list('gone')])
  return { endpoints: deliveries.endpoints, dead, gone }
}

type Listed = Awaited<ReturnType<Billing['deliveries']['list']>>

function explainAddresses({ mode, deliveries: { privateAddresses = [] } }: Config): Finding[] {
  if (mode === 'demo' || privateAddresses.length === 0) return []
  return [ok(CHECK, `They may go to ${privateAddresses.join(', ')}, which is not public`)]
}

function findFailed(dead: Listed): Finding[] {
  const [last] = dead
  if (!last) return []
  const what = `${dead.length} were given up on, the last with: ${last.lastError}`
  const fix = 'See tollgate billing deliveries list, and then tollgate billing deliveries resend.'
  return [problem(CHECK, what, fix)]
}

function findGone(gone: Listed): Finding[] {
  return [...new Set(gone.map(({ endpoint }) => endpoint))].map((name) => {
    const fix = `Take it out of the settings, or run: tollgate billing deliveries resend --endpoint ${name}`
    return warning(CHECK, `${name} has said that it wants nothing any more (410)`, fix)
  })
}
