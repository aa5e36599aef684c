/** Formats a date as in `3 March 2027`, in the given locale and UTC. */
export function formatDay(date: Date, locale = 'en-GB'): string {
  const style = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(locale, style).format(date)
}

interface TimeSource {
  now(): Date
}

/** Returns the current time for billing: in a demo, the time of the sandbox's clock. */
export function getBillingTime(service: {
  readonly sandbox: { readonly clock: TimeSource } | null
  readonly clock: TimeSource
}): Date {
  return (service.sandbox?.clock ?? service.clock).now()
}
