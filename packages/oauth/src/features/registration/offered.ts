import { offeredMethods } from '../../clients/authentication/offered-methods.ts'
import type { ServerContext } from '../../context.ts'

/** What a client can choose from, by the names of the server's metadata. */
export interface Offered {
  readonly methods: readonly string[]
  readonly authAlgorithms: readonly string[]
  /** Undefined where no feature says anything of it. */
  list(name: string): readonly string[] | undefined
  has(name: string): boolean
}

/** As the metadata of this server has it, so a client cannot register for what it could not read there. */
export function offeredBy(context: ServerContext): Offered {
  const { all, authenticators, soleAuthenticator } = context.features
  const told = all.map((feature) => feature.metadata?.(context) ?? {})
  const said = (name: string) => told.map((part) => part[name]).find(Boolean)
  return {
    methods: [...new Set([...offeredMethods(context), ...(soleAuthenticator ? [] : ['none'])])],
    authAlgorithms: authenticators.flatMap(({ algorithms }) => algorithms ?? []),
    list(name) {
      const value = said(name)
      return Array.isArray(value) ? value : undefined
    },
    has: (name) => said(name) !== undefined,
  }
}
