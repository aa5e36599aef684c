import { type Command, UsageError } from '../../command.ts'
import { withCore } from '../../open.ts'

export const keysReseal: Command = {
  summary: 'seal the stored keys with TOLLGATE_SECRET, so that the previous secret can be dropped',
  async run(_input, context) {
    const config = await context.config(['secret'])
    if (context.environment.TOLLGATE_NEXT_SECRET) {
      throw new UsageError(
        'TOLLGATE_NEXT_SECRET is set, so the change has not come that far. First start every process with the new secret as TOLLGATE_SECRET and the old one as TOLLGATE_PREVIOUS_SECRET.',
      )
    }
    return withCore(
      config,
      async ({ oauth }) => {
        const resealed = await oauth.keys.reseal()
        const rest = 'Nothing stored needs another secret than TOLLGATE_SECRET.'
        return {
          json: { resealed },
          text:
            resealed === 0
              ? rest
              : `Sealed ${resealed} ${resealed === 1 ? 'entry' : 'entries'} anew. ${rest} TOLLGATE_PREVIOUS_SECRET can be dropped.`,
        }
      },
      { alsoInApplications: true },
    )
  },
}
