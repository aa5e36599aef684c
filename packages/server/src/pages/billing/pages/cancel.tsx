import type { Context } from 'hono'
import { formatDay } from '../../../dates.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { Submit } from '../../parts/fields.tsx'
import { BillingForm, BillingFrame } from '../../parts/layout.tsx'
import { renderPage } from '../../parts/render.tsx'
import {
  endsImmediately,
  nullIfUnavailable,
  readAccount,
  requireRunning,
} from '../model/account.ts'
import { BadChoice } from '../model/problems.ts'
import type { FormRequest } from './add-form.ts'

/** Shows the ways to cancel and their effects, with the date. */
export async function showCancel(c: Context<AppEnv>): Promise<Response> {
  const account = await readAccount(c)
  const { running } = account
  const { t } = c.get('page')
  if (!running || running.incomplete()) return c.redirect(account.path, 303)
  const until = await nullIfUnavailable(running.paidUntil())
  const date = until && formatDay(until, t.locale)
  return renderPage(
    c,
    { title: t('cancel.title') },
    <BillingFrame>
      <section class="card narrow stack">
        <h1>{t('cancel.question')}</h1>
        {!running.cancelled() && !endsImmediately(running) && (
          <BillingForm action="/cancel" data-once>
            <h2>{date ? t('cancel.atEndOn', { date }) : t('cancel.atEnd')}</h2>
            <p>{t(running.onTrial() ? 'cancel.keepTrial' : 'cancel.keepPaid')}</p>
            <Submit class="primary">{date ? t('cancel.on', { date }) : t('cancel.end')}</Submit>
          </BillingForm>
        )}
        <BillingForm action="/cancel-now" data-once>
          <h2>{t('cancel.now')}</h2>
          <p>{t('cancel.nowText')}</p>
          <label class="check">
            <input type="checkbox" name="confirm" value="yes" required /> {t('cancel.confirm')}
          </label>
          <Submit class="danger">{t('cancel.nowGo')}</Submit>
        </BillingForm>
        <p>
          <a href={account.path}>{t('cancel.keep')}</a>
        </p>
      </section>
    </BillingFrame>,
  )
}

export async function cancel({ account }: FormRequest) {
  if (!account.running && account.history.length > 0) return 'cancelled' as const
  await requireRunning(account).cancel()
  return 'cancelled' as const
}

export async function cancelNow({ account, form }: FormRequest) {
  if (form.get('confirm') !== 'yes') {
    throw new BadChoice('problem.confirmEnd')
  }
  if (!account.running && account.history.length > 0) return 'ended' as const
  await requireRunning(account).cancelNow()
  return 'ended' as const
}
