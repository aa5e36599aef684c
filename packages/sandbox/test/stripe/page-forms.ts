import { expect } from 'vitest'

export interface ShownPage {
  readonly status: number
  readonly text: string
  readonly location: string | null
}

export async function openPage(url: string | null): Promise<ShownPage> {
  return read(await fetch(url ?? '', { redirect: 'manual' }))
}

/** Submits a form of a page, like a browser without script. */
export async function submit(
  url: string | null,
  fields: Readonly<Record<string, string>>,
): Promise<ShownPage> {
  const body = new URLSearchParams(fields)
  const page = await read(await fetch(url ?? '', { method: 'POST', body, redirect: 'manual' }))
  // A form shown again after an error, and a question in between, are pages of their own.
  if (!page.location?.includes('shown=')) return page
  return openPage(new URL(page.location, url ?? '').href)
}

async function read(response: Response): Promise<ShownPage> {
  const text = await response.text()
  return { status: response.status, text, location: response.headers.get('location') }
}

/** Returns the last cell of a table row on the page. */
export function readRowAmount(page: ShownPage, name: string): string | null {
  for (const [, row = ''] of page.text.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)) {
    const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => strip(cell))
    if (cells[0]?.startsWith(name)) return cells.at(-1) ?? null
  }
  return null
}

export function readAlert(page: ShownPage): string | null {
  const found = /role="alert">(.*?)</s.exec(page.text)?.[1]
  return found === undefined ? null : strip(found)
}

function strip(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Formats cents: `$12.34`. */
export function formatDollars(cents: number): string {
  expect(Number.isSafeInteger(cents)).toBe(true)
  return `${cents < 0 ? '-' : ''}$${(Math.abs(cents) / 100).toFixed(2)}`
}
