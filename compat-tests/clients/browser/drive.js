// Drives the admin page as a person would, at the size of a desk and of a phone.
// Usage: node drive.js URL FOLDER [GROUP]; screenshots go to FOLDER. Ends with 0 when all of it was seen.
const puppeteer = require("puppeteer-core");

const [url, folder, group] = process.argv.slice(2);
const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844, isMobile: true, hasTouch: true } };

async function main() {
  const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  try {
    for (const [name, viewport] of Object.entries(SIZES)) await walk(browser, name, viewport);
  } finally {
    await browser.close();
  }
  console.log("seen");
}

async function walk(browser, name, viewport) {
  const page = await browser.newPage();
  await page.setViewport(viewport);
  const trouble = [];
  page.on("console", (message) => { if (["error", "warning", "warn"].includes(message.type())) trouble.push(message.text()); });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("dialog", (dialog) => { trouble.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(url) && !request.url().startsWith("data:")) trouble.push(`asked ${request.url()}`); });

  const text = () => page.$eval("main", (main) => main.innerText);
  /** Waits until the view says all of `words`. */
  const see = async (...words) => {
    try {
      await page.waitForFunction((words) => words.every((word) => document.querySelector("main").innerText.includes(word)), { timeout: 15000 }, words);
    } catch {
      throw new Error(`${name}: not seen: ${words.join(", ")} in:\n${await text()}`);
    }
  };
  const picture = async (view) => {
    await page.screenshot({ path: `${folder}/${name}-${view}.png` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) throw new Error(`${name}: ${view} is ${wide} pixels wider than the screen`);
  };
  const press = async (selector) => { await page.waitForSelector(selector); await page.$eval(selector, (element) => element.click()); };
  const link = async (words) => {
    const found = await page.waitForFunction((words) => [...document.querySelectorAll("a")].find((link) => link.textContent === words), { timeout: 15000 }, words)
      .catch(() => { throw new Error(`${name}: there is no link ${words}`); });
    await found.evaluate((link) => link.click());
  };

  await page.goto(url);
  await see("Brokers", "Broker 1", "running", "Messages in", "Cluster id", "Log directories");
  await picture("brokers");

  await link("Topics");
  await see("orders", "3", "empty");
  if ((await text()).includes("__consumer_offsets")) throw new Error("internal topics are shown unasked");
  await press('button[name="internal"]');
  await see("__consumer_offsets", "internal");
  await page.type('input[name="words"]', "ord");
  await page.waitForFunction(() => !document.querySelector("main").innerText.includes("empty"));
  await picture("topics");

  await link("orders");
  await see("Partition 0", "Partition 2", "retention.ms", "86400000", "Next offset");
  await picture("topic");

  await link("Read messages");
  // A number keeps all its digits.
  await see("Partition 0", '"amount": 7', '"id": 12345678901234567890', '"of": []', "ada", "source", "base64");
  if ((await text()).includes("null") === false) throw new Error("a null value is not shown as one");
  await picture("messages");
  // What a record holds is shown, never run.
  await see("<img src=x onerror=alert(1)>");
  await page.type('input[name="offset"]', "2");
  await press('button[name="show"]');
  await page.waitForFunction(() => !document.querySelector("main").innerText.includes('"amount": 7'));
  await press('button[name="first"]');
  await see('"amount": 7');

  // What comes is seen without a hand, the newest first, until the reader has enough of it.
  await page.goto(`${url}/#/topics/ticking/messages`);
  await press('button[name="follow"]');
  const newest = () => page.waitForFunction(() => /tick (\d+)/.exec(document.querySelector("tbody tr").innerText)?.[1]).then((found) => found.jsonValue()).then(Number);
  const before = await newest();
  await page.waitForFunction((before) => Number(/tick (\d+)/.exec(document.querySelector("tbody tr").innerText)?.[1]) > before + 2, { timeout: 15000 }, before);
  await picture("follow");
  await press('button[name="follow"]');
  await page.waitForFunction(() => document.querySelector('button[name="follow"]').getAttribute("aria-pressed") === "false");
  await press('button[name="first"]');
  await page.waitForFunction(() => /tick 0\b/.test(document.querySelector("tbody tr").innerText));

  await link("Groups");
  await see(group, "Stable");
  await link(group);
  await see("Committed", "Lag", "orders", "Members");
  await picture("group");

  // Names that no path keeps, and no name at all.
  await link("Groups");
  await link("..");
  await see("Empty", "Committed", "orders");
  await page.goto(`${url}/#/topics/%zz`);
  await see("There is no such view.");

  // It renews itself, and says so when the broker is gone.
  if (trouble.length) throw new Error(`${name}: the browser complains:\n${trouble.join("\n")}`);
  await page.close();
}

main().catch((error) => { console.error(error.message ?? error); process.exit(1); });
