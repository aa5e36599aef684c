import type { Readable } from 'node:stream'
import type { BraintreeHandle } from '../../braintree/server/handle.ts'
import type { BraintreeContext } from '../../braintree/state/context.ts'
import type { ProviderContext } from '../../core/provider-context.ts'
import type { WantedProviders } from '../../scratch/scratch.ts'
import type { StripeHandle } from '../../stripe/server/handle.ts'
import type { StripeContext } from '../../stripe/state/context.ts'

/** The providers that were started: as tests hold them, and from within. */
export interface RunningProviders {
  readonly stripe: { readonly handle: StripeHandle; readonly context: StripeContext } | null
  readonly braintree: {
    readonly handle: BraintreeHandle
    /** The one that the handle stands for first. */
    readonly merchants: readonly BraintreeContext[]
  } | null
}

/** What the control room looks at. */
export interface Watched extends ProviderContext, RunningProviders {
  /** How they were started, for a copy to try something out. */
  readonly wanted: WantedProviders
}

/** What its forms can do beside that. */
export interface Controls extends Watched {
  readonly save: () => Promise<void>
  readonly reset: () => Promise<void>
  readonly exportState: () => Readable
}

/** A customer of one of the providers. */
export interface Who {
  readonly provider: 'stripe' | 'braintree'
  /** Whose customer it is, where Braintree has several merchants. */
  readonly merchant: string | null
  readonly id: string
}
