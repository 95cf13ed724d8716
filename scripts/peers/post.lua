-- wrk sends the file that BODY names, in place of a GET.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/octet-stream"
wrk.body = io.open(os.getenv("BODY")):read("*a")
