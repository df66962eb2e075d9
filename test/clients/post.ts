/** A hand-made request, and what is said to it. */
export async function post(url: string, body: object): Promise<{ status: number; text: string }> {
  const accept = "application/json, text/event-stream";
  const headers = { "content-type": "application/json", accept, connection: "close" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}
