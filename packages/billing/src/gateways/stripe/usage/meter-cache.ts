import type Stripe from 'stripe'
import { ProviderRejected } from '../../../errors.ts'

type Meter = Stripe.Billing.Meter

/** Meters do not change but for their name and whether they are on. */
export interface MeterCache {
  /** By the name that events have; null when there is none that is on. */
  find(eventName: string): Promise<Meter | null>
  require(eventName: string): Promise<Meter>
  /** All, as they are now. */
  list(): Promise<Meter[]>
  forget(): void
}

export function meterCache(stripe: Stripe): MeterCache {
  const known = new Map<string, Meter>()
  let reading: Promise<Meter[]> | null = null

  async function read(): Promise<Meter[]> {
    const all: Meter[] = []
    for await (const meter of stripe.billing.meters.list({ limit: 100 })) all.push(meter)
    known.clear()
    for (const meter of all) if (meter.status === 'active') known.set(meter.event_name, meter)
    return all
  }

  /** Many ask at once, and one of them reads. */
  function list(): Promise<Meter[]> {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }

  async function find(eventName: string): Promise<Meter | null> {
    if (!known.has(eventName)) await list()
    return known.get(eventName) ?? null
  }

  return {
    find,
    list,
    async require(eventName) {
      const found = await find(eventName)
      if (found) return found
      throw new ProviderRejected(`Stripe has no meter for '${eventName}' that is on`, {
        provider: 'stripe',
        providerCode: 'no_meter',
      })
    },
    forget: () => known.clear(),
  }
}
