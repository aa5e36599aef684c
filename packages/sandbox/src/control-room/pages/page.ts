import type { View } from '../parts/layout.ts'
import type { Watched } from '../story/watched.ts'

/** What somebody wants to see. */
export interface Ask {
  readonly watched: Watched
  /** What stands at the `:names` of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The page's own path and query. */
  readonly path: string
}

/** A page, and the same as data beside it. */
export interface Page {
  /** What there is to show; null when there is no such thing. */
  readonly read: (ask: Ask) => unknown
  readonly show: (data: never, ask: Ask) => View
}

/** Ties what is read to what is shown. */
export function definePage<Data extends object>(
  read: (ask: Ask) => Promise<Data | null> | Data | null,
  show: (data: Data, ask: Ask) => View,
): Page {
  return { read, show }
}
