import type { View } from '../parts/layout.ts'
import type { Watched } from '../story/watched.ts'

/** A request for a page. */
export interface PageRequest {
  readonly watched: Watched
  /** Values of the `:name` segments of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Path and query of the page. */
  readonly path: string
}

/** A page and its data. */
export interface Page {
  /** Returns the data to show, or `null` if the object does not exist. */
  readonly read: (ask: PageRequest) => unknown
  readonly show: (data: never, ask: PageRequest) => View
}

/** Defines a page by a function that reads its data and one that renders them. */
export function definePage<Data extends object>(
  read: (ask: PageRequest) => Promise<Data | null> | Data | null,
  show: (data: Data, ask: PageRequest) => View,
): Page {
  return { read, show }
}
