import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { Confirmation } from '../../parts/confirmation.tsx'
import { renderPage } from '../../parts/render.tsx'
import { readAccount } from '../model/account.ts'
import { describeMethod } from '../model/describe-card.ts'
import { addPage } from './add-page.ts'

/** Asks before a payment method is deleted. */
export function addDeleteCardPage(app: Hono<AppEnv>): void {
  addPage(app, '/billing/card/delete', async (c) => {
    const { billable } = await readAccount(c)
    const methods = await billable.paymentMethods()
    const method = methods.find(({ id }) => id === c.req.query('method'))
    if (!method) return c.redirect('/billing', 303)
    return renderPage(
      c,
      { title: 'Delete a payment method' },
      <Confirmation
        page={c.get('page')}
        title={`Delete ${describeMethod(method)}?`}
        action="/billing/card/delete"
        fields={{ method: method.id }}
        stay="Keep it"
        go="Delete it"
      >
        <p>Nothing can be paid with it any more. To use it again, you have to enter it again.</p>
      </Confirmation>,
    )
  })
}
