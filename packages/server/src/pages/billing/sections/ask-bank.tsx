import type { FC } from 'hono/jsx'
import type { CardEntry } from '../model/card-entry.ts'

/** The bank's question in this page, by the provider's script; in a demo by what stands in for it. */
export const AskBank: FC<{ entry: CardEntry; clientSecret: string | null }> = (view) => {
  const { entry, clientSecret } = view
  if (entry.provider !== 'stripe' || entry.scripts.length === 0 || clientSecret === null)
    return null
  const isDemo = entry.kind === 'test'
  return (
    <div
      class="stack"
      data-confirm-payment
      data-key={entry.key ?? undefined}
      data-client-secret={clientSecret}
      hidden
    >
      {isDemo && <p>Or let the bank ask in this page, as it does in production:</p>}
      <p>
        <button class={isDemo ? undefined : 'primary'} type="button">
          {isDemo ? 'Let the bank ask' : 'Confirm with your bank'}
        </button>
      </p>
      <p class="problem" data-problem role="alert" />
    </div>
  )
}
