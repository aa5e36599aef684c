const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

/** `3 March 2027`. */
export function formatDay(date: Date): string {
  return DAY.format(date)
}
