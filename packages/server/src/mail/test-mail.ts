import type { OutgoingMail } from './smtp.ts'

/** Composes the mail of `tollgate mail test`. */
export function composeTestMail(product: string): Omit<OutgoingMail, 'id' | 'to'> {
  const subject = `Test mail from ${product}`
  const text = 'If you can read this, the mail server of the service is set up correctly.'
  return {
    locale: 'en',
    subject,
    text,
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Test mail</title></head><body><p>${text}</p></body></html>`,
    attachments: async () => [],
  }
}
